import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { RunProgress } from '../../src/adapters/cli/render/run-progress.ts'
import { outputsOn } from '../../src/adapters/cli/terminal/outputs.ts'
import type { AgentSession, RunEvent, RunItem } from '../../src/entry/index.ts'
import { AGENT_COMMAND, alive, database, folder, spawnBaton, until } from './spawned.ts'
import { batonOn, type Said, withoutStore } from './terminal.ts'

let url: string
beforeAll(async () => {
  url = await database()
})

interface Scene {
  readonly script?: string
  readonly later?: string
  readonly environment?: Readonly<Record<string, string>>
}

const start = (scene: Scene, ...args: readonly string[]) => {
  const { script = 'turn:1000 say:2000', later, environment } = scene
  return spawnBaton(['run', '--command', AGENT_COMMAND, ...args], {
    BATONPASS_DATABASE_URL: url,
    SCRIPT: script,
    ...(later !== undefined && { SCRIPT_LATER: later }),
    ...environment,
  })
}

const run = async (scene: Scene, ...args: readonly string[]): Promise<Said> => {
  const said = await start(scene, ...args).ended
  return { ...said, err: withoutStore(said.err) }
}

const sessionOf = async (key: string): Promise<AgentSession> => {
  const { out } = await batonOn(url)('sessions', 'show', '--key', key, '--json')
  return JSON.parse(out) as AgentSession
}

const eventsIn = (out: string): readonly RunItem<unknown>[] =>
  out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as RunItem<unknown>)

describe('baton run', () => {
  it('prints the answers of the agent, and the progress beside them', async () => {
    const { code, out, err } = await run({}, '--conversation', 'plain', 'Fix it')
    expect(code).toBe(0)
    expect(out).toBe('Answer 1.\nAnswer 2.\n')
    expect(err.replaceAll(/[0-9a-f]{8}-[-0-9a-f]+/g, 'ID').replace(/[\d.]+ s(?=,|$)/m, 'T')).toBe(
      [
        'runtime: command',
        'session 1 begins (ID)',
        'warning: Nobody has said yet how large the window is. If the agent does not say it either, no restart is possible: give the size with --context-limit TOKENS, as context_limit in the configuration, or name the model.',
        'turn 1 [░░░░░░░░░░] 0 %, 1k of 200k edit_file',
        'turn 2 [░░░░░░░░░░] 1 %, 2k of 200k',
        'session ID is completed',
        'completed: 1 session, 2 turns, 0 restarts, T, about $0.00 (estimated)',
        '',
      ].join('\n'),
    )
    expect(await sessionOf('plain')).toMatchObject({ state: 'completed', agentName: 'command', backend: 'command' })
  })

  it('prints nothing of it when it is to be quiet, and takes the prompt from a file or standard input', async () => {
    const place = folder()
    const told = join(place, 'told')
    writeFileSync(join(place, 'prompt.md'), 'From a file')
    const environment = { PROMPT_FILE: told }
    const { code, out } = await run({ environment }, '--quiet', '--prompt-file', join(place, 'prompt.md'))
    expect({ code, out }).toEqual({ code: 0, out: '' })
    const piped = start({ environment }, '-')
    piped.child.stdin?.end('From a pipe')
    expect((await piped.ended).code).toBe(0)
    expect(readFileSync(told, 'utf8')).toBe('"From a file"\n"From a pipe"\n')
  })

  it('continues in a fresh window when the window is full, and the record says how', async () => {
    const scene = { script: 'turn:50000 turn:180000 wait', later: 'turn:1000 say:2000' }
    const { code, err } = await run(scene, '--conversation', 'full', 'Fix it')
    expect(code).toBe(0)
    expect(err).toMatch(/milestone restart: \[█{9}░] 90 %, 180k of 200k/)
    expect(err).toMatch(/checkpoint: skipped/)
    expect(err).toMatch(/session 2 begins .*, in a fresh window/)
    expect(err).toMatch(/completed: 2 sessions, 4 turns, 1 restart/)
    const { out } = await batonOn(url)('handoffs', 'show', '--key', 'full')
    expect(out).toMatch(/^flags +minimal_continuation, checkpoint_skipped, recap_from_record$/m)
    expect(out).toMatch(/^checkpoint +skipped: Its runtime cannot be asked\.$/m)
  })

  it('writes one event a line for machines, the summary last, and the messages if they are wanted', async () => {
    const { code, out, err } = await run({ script: 'noise say:2000' }, '--json', '--messages', 'Fix it')
    expect({ code, err }).toEqual({ code: 0, err: '' })
    const events = eventsIn(out)
    expect(events.map(({ type }) => type)).toEqual([
      'session:start',
      'run:warning',
      'message',
      'message',
      'turn:recorded',
      'session:end',
      'run:end',
    ])
    expect(events.at(-1)).toMatchObject({ summary: { outcome: 'completed', sessions: 1, turns: 1, restarts: 0 } })
    expect(events[2]).toMatchObject({ message: { type: 'system', subtype: 'init' } })
    expect(eventsIn((await run({}, '--json', 'Fix it')).out).map(({ type }) => type)).not.toContain('message')
  })

  it('marks each handoff between the messages of the old session and those of the new one', async () => {
    const scene = { script: 'turn:50000 turn:180000 wait', later: 'say:2000' }
    const { code, out } = await run(scene, '--json', '--messages', 'Fix it')
    expect(code).toBe(0)
    const items = eventsIn(out)
    const at = items.findIndex(({ type }) => type === 'context:handoff:complete')
    const marker = items[at]
    if (marker?.type !== 'context:handoff:complete') throw new Error('There is no marker')
    const sessions = (part: typeof items) =>
      new Set(part.flatMap((item) => (item.type === 'message' ? [item.sessionId] : [])))
    expect(sessions(items.slice(0, at))).toEqual(new Set([marker.oldSessionId]))
    expect(sessions(items.slice(at))).toEqual(new Set([marker.newSessionId]))
    expect(marker.newSessionId).not.toBe(marker.oldSessionId)
  })

  it('prints the log with --verbose, the percentage of a restart included, and not without', async () => {
    const scene = { script: 'turn:1000 turn:170000', later: 'say:2000' }
    const { code, err } = await run(scene, '--verbose', 'Fix it')
    expect(code).toBe(0)
    expect(err).toMatch(/^\[info\] a restart begins at 8\d % of the window \{"event":"context:handoff:start",.*\}$/m)
    expect(err).toMatch(/^\[debug\] turn 1 is recorded /m)
    expect((await run({}, 'Fix it')).err).not.toMatch(/^\[/m)
  })

  it('keeps the store’s address from the agent', async () => {
    expect((await run({ script: 'secret' }, 'Fix it')).out).toBe('BATONPASS_DATABASE_URL is undefined\n')
  })

  it('works where it is told to, and keeps the place', async () => {
    const place = folder()
    const command = `pwd > where; ${AGENT_COMMAND}`
    const flags = ['--cwd', '.', '--worktree', place, '--branch', 'fix', '--conversation', 'place']
    const { code } = await spawnBaton(['run', '--command', command, ...flags, 'Fix it'], {
      BATONPASS_DATABASE_URL: url,
    }).ended
    expect(code).toBe(0)
    expect(readFileSync(join(place, 'where'), 'utf8').trim()).toBe(place)
    const { out } = await batonOn(url)('conversations', 'show', '--key', 'place', '--json')
    expect(JSON.parse(out)).toMatchObject({
      workspace: { workingDirectory: process.cwd(), worktreePath: place, branch: 'fix' },
    })
  })

  it('takes milestones, budget and policy from a file, and flags before it', async () => {
    const file = join(folder(), 'batonpass.yaml')
    writeFileSync(
      file,
      'milestones: { restart: 0.7 }\nrestart: { policy: advise }\nsession: { max_handoffs_per_job: 0 }',
    )
    const scene = { script: 'turn:50000 turn:145000 turn:146000' }
    const advised = await run(scene, '--config', file, 'Fix it')
    expect(advised.code).toBe(0)
    expect(advised.err).toMatch(/milestone restart/)
    const stopped = await run(scene, '--config', file, '--policy', 'auto', 'Fix it')
    expect(stopped.code).toBe(4)
    expect(stopped.err).toMatch(/its 0 restarts are used up/)
  })
})

describe('the end of a run', () => {
  it('is 1 when the agent failed, with its own words', async () => {
    const { code, err } = await run({ script: 'say:10 fail:3' }, '--conversation', 'broken', 'Fix it')
    expect(code).toBe(1)
    expect(err).toMatch(/^baton: The run has not completed \(failed\)\. .* exit code 3\. It said: The key is wrong\.$/m)
    expect(err).toMatch(/--conversation broken$/m)
    expect(err).not.toMatch(/^ +at /m)
  })

  it('is 1 when there is no such command, or it says nothing that is known', async () => {
    const missing = await spawnBaton(['run', '--command', 'no-such-agent', 'Fix it'], { BATONPASS_DATABASE_URL: url })
      .ended
    expect({ code: missing.code, err: missing.err }).toMatchObject({ code: 1, err: expect.stringMatching(/not found/) })
    const mute = await spawnBaton(['run', '--command', 'cat', '{"not": "known"}'], { BATONPASS_DATABASE_URL: url })
      .ended
    expect({ code: mute.code, err: mute.err }).toMatchObject({
      code: 1,
      err: expect.stringMatching(/no line of a known format: codex-rollout, /),
    })
  })

  it('is 4 when there is no restart left, and 5 when the time is over', async () => {
    const full = await run({ script: 'turn:180000 wait' }, '--max-restarts', '0', 'Fix it')
    expect(full.code).toBe(4)
    const place = join(folder(), 'pids')
    const late = await run({ script: 'wait', environment: { PID_FILE: place } }, '--deadline', '2s', 'Fix it')
    expect({ code: late.code, err: late.err }).toMatchObject({ code: 5, err: expect.stringMatching(/time .* is over/) })
    expect(alive(place)).toEqual([])
  })

  it('is 5 when the agent fell silent, and says how to go on', async () => {
    const silent = await run({ script: 'turn:1000 wait' }, '--idle-timeout', '2s', '--conversation', 'silent', 'Fix it')
    expect(silent.code).toBe(5)
    expect(silent.err).toMatch(/To continue, run the same command with --conversation silent$/m)
  })

  it('is 130 after Ctrl-C: the session is paused, nothing runs any more, and the same command resumes it', async () => {
    const pids = join(folder(), 'pids')
    const told = join(folder(), 'told')
    const scene = { script: 'turn:1000 deaf', later: 'say:100', environment: { PID_FILE: pids, PROMPT_FILE: told } }
    const running = start(scene, '--conversation', 'stopped', 'Fix it')
    await until(() => running.said.err.includes('turn 1'), 'a first turn')
    running.child.kill('SIGINT')
    const { code, err } = await running.ended
    expect(code).toBe(130)
    expect(err).toMatch(/cancelled/)
    expect(err).toMatch(/To continue, run the same command with --conversation stopped$/m)
    expect(alive(pids)).toEqual([])
    expect(await sessionOf('stopped')).toMatchObject({ state: 'paused', epoch: 1 })
    expect((await run(scene, '--conversation', 'stopped', 'Fix it')).code).toBe(0)
    expect(await sessionOf('stopped')).toMatchObject({ state: 'completed', epoch: 2 })
    expect(readFileSync(told, 'utf8').trim().split('\n')[1]).toMatch(/Continue/)
  })

  it('comes at once after Ctrl-C twice, and takes the agent along', async () => {
    const pids = join(folder(), 'pids')
    const running = start({ script: 'deaf', environment: { PID_FILE: pids } }, 'Fix it')
    await until(() => existsSync(pids), 'an agent')
    running.child.kill('SIGINT')
    await new Promise((resolve) => setTimeout(resolve, 300)) // two at once would be one
    running.child.kill('SIGINT')
    expect((await running.ended).code).toBe(130)
    await until(() => alive(pids).length === 0, 'no agent')
  })

  it('is 3 when a living process works on the conversation', async () => {
    const running = start({ script: 'say:10 wait' }, '--conversation', 'busy', 'Fix it')
    await until(() => running.said.err.includes('session 1'), 'a session')
    const { code, err } = await run({}, '--conversation', 'busy', 'Fix it')
    expect({ code, err }).toMatchObject({ code: 3, err: expect.stringMatching(/\(session\.leased\)/) })
    running.child.kill('SIGTERM')
    expect((await running.ended).code).toBe(130)
  })
})

describe('a run that cannot begin', () => {
  const COMMAND = ['--command', 'true']
  it.each([
    [[], 'Say what to do'],
    [['--prompt-file', 'a', 'b'], 'Say what to do'],
    [[...COMMAND, 'Fix it', 'now'], '"now" is one word too many'],
    [[...COMMAND, ' '], 'The prompt is empty'],
    [[...COMMAND, '--prompt-file', 'no-such-file'], '"no-such-file" cannot be read'],
    [
      ['--runtime', 'magic', 'Fix it'],
      '--runtime cannot be "magic": it must be one of claude-sdk, claude, codex, command',
    ],
    [['--runtime', 'command', 'Fix it'], '--runtime command goes with --command'],
    [[...COMMAND, '--no-auto-compact', 'Fix it'], '--no-auto-compact goes with'],
    [[...COMMAND, '--resume', 'x', 'Fix it'], '--resume: this runtime cannot'],
    [[...COMMAND, '--policy', 'magic', 'Fix it'], '--policy cannot be "magic"'],
    [[...COMMAND, '--deadline', 'soon', 'Fix it'], '--deadline cannot be "soon"'],
    [[...COMMAND, '--max-restarts', '-1', 'Fix it'], '--max-restarts'],
    [[...COMMAND, '--context-limit', '0', 'Fix it'], '--context-limit cannot be "0"'],
    [[...COMMAND, '--cwd', 'no-such-folder', 'Fix it'], 'There is no folder "no-such-folder"'],
    [[...COMMAND, '--config', 'no-such-file', 'Fix it'], 'There is no file "no-such-file"'],
    [[...COMMAND, '--messages', 'Fix it'], '--messages goes with --json'],
    [[...COMMAND, '--magic', 'Fix it'], '--magic'],
  ])('says so for %j', async (args, problem) => {
    const { code, out, err } = await batonOn(url)('run', ...args)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain(problem)
  })

  it('says which runtime is missing', async () => {
    const { code, err } = await batonOn(url)('run', '--runtime', 'codex', 'Fix it')
    expect(code).toBe(1)
    expect(err).toBe(
      'baton: The runtime "codex" needs the package @openai/codex-sdk, which is not installed. ' +
        'It is optional: npm install @openai/codex-sdk, beside batonpass.',
    )
  })

  it('shows everything that is wrong with its configuration', async () => {
    const file = join(folder(), 'batonpass.yaml')
    writeFileSync(file, 'sesion: {}')
    const { code, err } = await batonOn(url)('run', ...COMMAND, '--config', file, 'Fix it')
    expect({ code, err }).toMatchObject({ code: 3, err: expect.stringContaining('Did you mean "session"?') })
  })
})

describe('progress on a terminal', () => {
  const ABOUT = { version: 1, conversationId: 'c', agentName: 'a', jobId: null, sessionId: 's' } as unknown as RunEvent
  const told = (event: object): RunEvent => ({ ...ABOUT, ...event }) as RunEvent
  const turn = (number: number, usagePercent: number | null, ...toolNames: readonly string[]): RunEvent =>
    told({
      type: 'turn:recorded',
      turn: number,
      usagePercent,
      inputTokens: usagePercent === null ? null : usagePercent * 200_000,
      contextWindow: 200_000,
      toolCalls: toolNames.map((toolName) => ({ callId: toolName, toolName })),
    })

  const screen = (columns = 100) => {
    const written: string[] = []
    const stream = { isTTY: true, columns, write: (text: string) => written.push(text) }
    return { written, ...outputsOn(stream, stream) }
  }

  it('is one line with all there is to know', () => {
    const { err } = screen()
    const progress = new RunProgress(err)
    progress.take(told({ type: 'session:start', epoch: 2, isContinuation: true, previousSessionId: null }))
    expect(progress.statusLine()).toBe('session 2  [··········] not known  turn 0')
    progress.take(turn(13, 0.55, 'look', 'read'))
    progress.take(told({ type: 'context:handoff:complete', handoffNumber: 1, newSessionId: 'n' }))
    progress.take(turn(14, 0.612, 'edit\u001b[2J', 'test'))
    progress.used({ inputTokens: 1, outputTokens: 1, costUsd: 0.423 })
    expect(progress.statusLine()).toBe(
      'session 2  [██████░░░░] 61 %, 122k of 200k  turn 14  read, edit\\u{1b}[2J, test  1 restart  $0.42',
    )
  })

  it('is redrawn in place, and steps aside for what the agent says', () => {
    const { err, out, written } = screen()
    const progress = new RunProgress(err)
    progress.take(turn(1, 0.1))
    progress.take(turn(2, 0.2))
    out.line('Half of it.')
    progress.end()
    const CLEAR = '\r\u001b[2K'
    const [first, second] = [
      'session 0  [█░░░░░░░░░] 10 %, 20k of 200k  turn 1',
      'session 0  [██░░░░░░░░] 20 %, 40k of 200k  turn 2',
    ]
    expect(written).toEqual([first, CLEAR, second, CLEAR, 'Half of it.\n', second, CLEAR])
  })

  it('is never longer than the terminal is wide', () => {
    const { err, written } = screen(20)
    new RunProgress(err).take(turn(1, 0.1))
    expect(written).toEqual(['session 0  [█░░░░░…'])
  })
})
