import { deepEqual, equal, ok } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createBatonpass, taskOf } from '../../src/entry/index.ts'
import type { MessageOrigin } from '../../src/entry/ports.ts'
import { install, wantedBy } from '../../src/main/installer.ts'
import { serve } from '../../src/main/serve.ts'
import { bundle } from '../support/bundle.ts'
import { bash, commandPath, uses } from './claude-stage.ts'
import { answerQuestions, NEEDS_TMUX, terminalOf } from './claude-terminal.ts'
import { askClaude, type ClaudeHome, claudeHome } from './hooks-stage.ts'
import { NO_WAY_OUT } from './loopback-server.ts'
import type { Answer, Body } from './messages-api.ts'
import { PATIENT } from './patience.ts'
import { startResponsesApi } from './responses-api.ts'

const USAGE = uses(10, 1_000, 20_000, 60)

/** Waits until the service has taken everything that hooks could not hand it in time. */
const spoolTaken = async (folder: string): Promise<void> => {
  const spool = join(folder, 'spool')
  const isLeft = (): boolean => existsSync(spool) && readdirSync(spool).some((name) => name.endsWith('.json'))
  while (isLeft()) await pause(100)
}

/** The users' texts of the only conversation in a folder, by origin, and its task. */
const usersIn = async (folder: string) => {
  await spoolTaken(folder)
  await using batonpass = await createBatonpass({ dataDir: folder })
  const [conversation] = (await batonpass.history.listConversations()).items
  if (conversation === undefined) throw new Error('Nothing is on record')
  const { items } = await batonpass.history.messages(conversation.id, { limit: 1_000 })
  const users = items.filter(({ role }) => role === 'user')
  const by = (wanted: MessageOrigin) => users.filter(({ origin }) => origin === wanted).map(({ text }) => text)
  return { person: by('person'), unknown: by('unknown'), runtime: by('runtime'), task: taskOf(conversation) }
}

/** Its tool runs until the test has typed something more; other prompts are answered at once. */
const answering =
  (whileItRuns: string) =>
  ({ messages }: Body): Answer => {
    const last = JSON.stringify(messages.at(-1)?.content)
    if (last.includes('tool_result')) return { text: 'Done.', usage: USAGE }
    if (last.includes('slowly'))
      return { tool: bash(`until [ -e '${whileItRuns}' ]; do sleep 0.1; done`), usage: USAGE }
    const background = {
      command: 'sleep 1',
      run_in_background: true,
      description: 'Runs along',
    }
    if (last.includes('beside')) return { tool: { name: 'Bash', input: background }, usage: USAGE }
    return { text: 'Okay.', usage: USAGE }
  }

/** Types prompts into one process of the real claude, the second while its tool runs. */
const chat = (
  { home, environment }: ClaudeHome,
  session: string,
  drive: (child: {
    readonly say: (text: string) => void
    readonly until: (word: string, times?: number) => Promise<void>
  }) => Promise<void>,
): Promise<number | null> => {
  const args = [
    '-p',
    '--input-format',
    'stream-json',
    '--output-format',
    'stream-json',
    '--verbose',
    '--resume',
    session,
  ]
  const flags = ['--model', 'claude-sonnet-4-5', '--replay-user-messages', '--dangerously-skip-permissions']
  const child = spawn(commandPath(), [...args, ...flags], {
    cwd: home,
    env: environment,
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  let out = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text
  })
  const say = (content: string): void =>
    void child.stdin.write(`${JSON.stringify({ type: 'user', message: { role: 'user', content } })}\n`)
  const until = async (word: string, times = 1): Promise<void> => {
    while (out.split(word).length <= times) await pause(50)
  }
  void drive({ say, until }).then(() => child.stdin.end())
  return new Promise((resolve) => child.once('close', resolve))
}

const withoutPromptHook = ({ home }: Pick<ClaudeHome, 'home'>): void => {
  const file = join(home, '.claude', 'settings.json')
  const settings = JSON.parse(readFileSync(file, 'utf8')) as { readonly hooks: Record<string, unknown> }
  delete settings.hooks.UserPromptSubmit
  writeFileSync(file, JSON.stringify(settings))
}

/** Asks the real claude in every way that needs no terminal. */
const asked = async (place: ClaudeHome, goAhead: string): Promise<void> => {
  mkdirSync(join(place.home, '.claude', 'commands'))
  writeFileSync(join(place.home, '.claude', 'commands', 'note.md'), 'Take a note of this: $ARGUMENTS')
  const first = await askClaude(place, 'Say two words.')
  equal(first.code, 0, first.err)
  const [, session = ''] = /"session_id":"([0-9a-f-]{36})"/.exec(first.out) ?? []
  equal((await askClaude(place, '/note use tabs', {}, ['--resume', session])).code, 0)
  const code = await chat(place, session, async ({ say, until }) => {
    say('Do it slowly.')
    await until('"name":"Bash"')
    say('And mind the blanks.')
    // Claude has it once it is in the transcript's queue; the tool ends then.
    const transcripts = join(place.home, '.claude', 'projects')
    const hasIt = (): boolean =>
      readdirSync(transcripts, { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.jsonl'))
        .some((name) => readFileSync(join(transcripts, name), 'utf8').includes('And mind the blanks.'))
    while (!hasIt()) await pause(50)
    writeFileSync(goAhead, '')
    await until('"type":"result"')
    say('Run it beside.')
    await until('"type":"result"', 2)
  })
  equal(code, 0)
}

const TYPED = ['Say two words.', '/note use tabs', 'Do it slowly.', 'And mind the blanks.', 'Run it beside.']

describe('whose words are in the transcript of the real claude', PATIENT, () => {
  it('with hooks: everything that the person typed is the person’s, and nothing else', async (t) => {
    const goAhead = join(mkdtempSync(join(tmpdir(), 'batonpass-go-')), 'ahead')
    const place = await claudeHome(t, { play: answering(goAhead) })
    const service = await serve({ folder: place.folder, dataDir: place.folder, environment: place.environment })
    await using _ = { [Symbol.asyncDispose]: () => service.stop() }
    await asked(place, goAhead)
    const { person, unknown, task } = await usersIn(place.folder)
    console.log(`with hooks: ${person.length} of ${TYPED.length} typed prompts recognised, ${unknown.length} unknown`)
    deepEqual(person, TYPED)
    deepEqual(unknown, [])
    equal(task, 'Run it beside.')
  })

  it('without the hook of prompts: what a program passes on is of unknown origin', async (t) => {
    const goAhead = join(mkdtempSync(join(tmpdir(), 'batonpass-go-')), 'ahead')
    const place = await claudeHome(t, { play: answering(goAhead) })
    withoutPromptHook(place)
    const service = await serve({ folder: place.folder, dataDir: place.folder, environment: place.environment })
    await using _ = { [Symbol.asyncDispose]: () => service.stop() }
    await asked(place, goAhead)
    const { person, unknown } = await usersIn(place.folder)
    console.log(`without hooks, -p: ${person.length} of ${TYPED.length} recognised, ${unknown.length} unknown`)
    deepEqual(person, [])
    deepEqual(unknown, TYPED)
  })

  for (const hasHook of [true, false])
    it(
      `in a terminal, ${hasHook ? 'with hooks' : 'without the hook of prompts, by its marks'}`,
      NEEDS_TMUX,
      async (t) => {
        const place = await claudeHome(t, { turns: [{ text: 'Okay then.', usage: USAGE }] })
        if (!hasHook) withoutPromptHook(place)
        answerQuestions(place)
        const service = await serve({ folder: place.folder, dataDir: place.folder, environment: place.environment })
        await using _ = { [Symbol.asyncDispose]: () => service.stop() }
        const terminal = terminalOf(t, place)
        await terminal.until(/❯|>/)
        const typed = ['Say two words.', 'And once more.']
        for (const [index, text] of typed.entries()) {
          terminal.type('-l', text)
          await terminal.until(new RegExp(text))
          terminal.type('Enter')
          await terminal.until(new RegExp(`(?:Okay then[\\s\\S]*){${index + 1}}`))
          await pause(1_000)
        }
        terminal.type('-l', '/exit')
        await terminal.until(/\/exit/)
        terminal.type('Enter')
        await pause(3_000)
        await terminal.close()
        const { person, unknown } = await usersIn(place.folder)
        console.log(
          `terminal ${hasHook ? 'with' : 'without'} hooks: ${person.length} of ${typed.length} recognised, ${unknown.length} unknown`,
        )
        deepEqual(person, typed)
        deepEqual(unknown, [])
      },
    )
})

const codexScript = (): string => createRequire(import.meta.url).resolve('@openai/codex/bin/codex.js')
const PROGRAM = fileURLToPath(new URL('../support/hook-program.ts', import.meta.url))

/** The real Codex with our hooks, or with all of them but the one of prompts. */
const codexPlace = async (t: TestContext, hasHook: boolean) => {
  const home = mkdtempSync(join(tmpdir(), 'batonpass-codex-'))
  const folder = join(home, '.batonpass')
  const api = await startResponsesApi(() => ({ input: 100, cached: 0, output: 3, text: 'Okay.' }))
  t.after(async () => {
    await api[Symbol.asyncDispose]()
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  })
  mkdirSync(join(home, 'bin'))
  mkdirSync(join(home, '.codex'))
  const program = fileURLToPath(await bundle(PROGRAM, home))
  const baton = join(home, 'bin', 'baton')
  const skip = hasHook ? '' : 'case "$*" in *user-prompt-submit*) exit 0;; esac\n'
  writeFileSync(baton, `#!/bin/sh\n${skip}exec '${process.execPath}' '${program}' "$@" --data-dir '${folder}'\n`)
  chmodSync(baton, 0o755)
  const environment = {
    PATH: `${join(home, 'bin')}${delimiter}${process.env.PATH}`,
    ...{ HOME: home, NO_KEY: 'none', BATONPASS_HOOK_BUDGET_MS: '300000' },
    ...NO_WAY_OUT,
  }
  const wanted = wantedBy({ environment, command: baton, without: ['mcp'] })
  if (!wanted.ok) throw new Error(wanted.error)
  const about = { agent: { name: 'codex' as const }, place: { environment, workingFolder: home }, wanted: wanted.value }
  const done = await install({ ...about, folder, isDryRun: false })
  ok(done.ok, JSON.stringify(done))
  const provider = `{name="loopback",base_url="${api.url}/v1",env_key="NO_KEY",wire_api="responses"}`
  const settings = [
    'model_provider="loopback"',
    `model_providers.loopback=${provider}`,
    'check_for_update_on_startup=false',
  ]
  const config = settings.flatMap((setting) => ['-c', setting])
  const ask = async (prompt: string, ...resumes: readonly string[]): Promise<void> => {
    const words = [
      'exec',
      ...resumes,
      '--skip-git-repo-check',
      '-m',
      'gpt-5.5',
      ...config,
      '--dangerously-bypass-hook-trust',
    ]
    const child = spawn(process.execPath, [codexScript(), ...words, prompt], {
      ...{ cwd: home, env: environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let said = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        said += text
      })
    equal(await new Promise((resolve) => child.once('close', resolve)), 0, said)
  }
  return { folder, environment, ask }
}

describe('whose words are in the rollout of the real Codex', PATIENT, () => {
  for (const hasHook of [true, false])
    it(hasHook ? 'with hooks: all that was typed is the person’s' : 'without hooks: Codex marks nothing', async (t) => {
      const { folder, environment, ask } = await codexPlace(t, hasHook)
      const service = await serve({ folder, dataDir: folder, environment })
      await using _ = { [Symbol.asyncDispose]: () => service.stop() }
      const typed = ['Say two words.', 'And once more,\n\nin two lines.']
      await ask(typed[0] ?? '')
      await ask(typed[1] ?? '', 'resume', '--last')
      const { person, unknown } = await usersIn(folder)
      console.log(
        `Codex ${hasHook ? 'with' : 'without'} hooks: ${person.length} of ${typed.length} recognised, ${unknown.length} unknown`,
      )
      deepEqual(person, hasHook ? typed : [])
      deepEqual(unknown, hasHook ? [] : typed)
    })
})
