import { spawn } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PGlite } from '@electric-sql/pglite'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { Transcript } from '../terminal/transcripts.ts'
import { PLANTED } from './planted.ts'

const KEYS = Object.values(PLANTED)
const OF_ENVIRONMENT = 'only-this-machine-knows-42'
const SECRETS = [...KEYS.map(({ secret }) => secret), OF_ENVIRONMENT]
/** A key of several lines also counts where only its second line is left. */
const TRACES = SECRETS.flatMap((secret) => [secret, ...(secret.includes('\n') ? [secret.split('\n')[1] ?? ''] : [])])
const ALL = [...KEYS.map(({ text }) => text), `the token ${OF_ENVIRONMENT}`].join('\n')

const AGENT = fileURLToPath(new URL('./leaky-agent.mjs', import.meta.url))
const LEAKY = `exec "${process.execPath}" "${AGENT}"`

const home = realpathSync(mkdtempSync(join(tmpdir(), 'batonpass-secrets-')))
const folder = join(home, 'private')
const workspace = join(home, 'work')
mkdirSync(join(workspace, '.git'), { recursive: true })
mkdirSync(folder, { mode: 0o700 })
afterAll(() => rmSync(home, { recursive: true, force: true, maxRetries: 10 }))

const environment = (more: Readonly<Record<string, string>> = {}) => ({
  HOME: home,
  BATONPASS_DATA_DIR: folder,
  BATONPASS_HOOK_BUDGET_MS: '300000',
  ACME_DEPLOY_TOKEN: OF_ENVIRONMENT,
  KEYS: JSON.stringify([...KEYS.map(({ text }) => text), OF_ENVIRONMENT]),
  ...more,
})

const outputs: string[] = []

/** The program as it is built, with the schema of the store beside it. */
const BATON = fileURLToPath(new URL('../../dist/adapters/cli/main.js', import.meta.url))

const spawnBaton = (args: readonly string[], env: Readonly<Record<string, string>>) => {
  const child = spawn(process.execPath, [BATON, ...args], { env: { PATH: process.env.PATH, ...env }, cwd: workspace })
  onTestFinished(() => void child.kill('SIGKILL'))
  const said = { out: '', err: '', isOver: false }
  child.stdout.on('data', (chunk: Buffer) => {
    said.out += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    said.err += chunk.toString()
  })
  const ended = new Promise<{ readonly code: number | null; readonly out: string; readonly err: string }>((resolve) =>
    child.once('close', (code) => {
      said.isOver = true
      resolve({ code, out: said.out, err: said.err })
    }),
  )
  return { child, said, ended }
}

const until = async ({ said }: ReturnType<typeof spawnBaton>, isSo: () => boolean): Promise<void> => {
  while (!isSo()) {
    if (said.isOver) throw new Error(`It has ended: ${said.err}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Runs a command, and keeps all that it says. */
const baton = async (args: readonly string[], more: Readonly<Record<string, string>> = {}, input = '') => {
  const spawned = spawnBaton(args, environment(more))
  spawned.child.stdin?.end(input)
  const ended = await spawned.ended
  outputs.push(`$ baton ${args[0]} ${args[1] ?? ''}\n${ended.out}\n${ended.err}`)
  return ended
}

const hook = (event: string, input: object, more: Readonly<Record<string, string>> = {}) =>
  baton(['hook', event, '--data-dir', folder], more, JSON.stringify(input))

/** Where a secret can be found in a text, by the form of the secret. */
const found = (where: string, text: string): readonly string[] => {
  const looked = [text, text.replaceAll('\\n', '\n')]
  return TRACES.filter((trace) => looked.some((one) => one.includes(trace))).map(
    (trace) => `${where}: ${trace.slice(0, 24)}`,
  )
}

/** Every file below a folder, but those of the database, which is asked table by table. */
const filesIn = (path: string): readonly string[] =>
  readdirSync(path).flatMap((name) => {
    const inside = join(path, name)
    if (statSync(inside, { throwIfNoEntry: false })?.isDirectory() !== true) return [inside]
    return inside === join(folder, 'data') ? [] : filesIn(inside)
  })

const inFiles = (): readonly string[] =>
  filesIn(folder).flatMap((file) => {
    try {
      return found(file.slice(folder.length), readFileSync(file, 'utf8'))
    } catch {
      return [] // a socket
    }
  })

const inTables = async (): Promise<{ readonly hits: readonly string[]; readonly text: string }> => {
  const database = new PGlite(join(folder, 'data'))
  try {
    const { rows: tables } = await database.query<{ name: string }>(
      "select format('%I.%I', table_schema, table_name) as name from information_schema.tables where table_schema not in ('pg_catalog', 'information_schema')",
    )
    expect(tables.length).toBeGreaterThan(10)
    let text = ''
    const hits: string[] = []
    for (const { name } of tables) {
      const { rows } = await database.query<{ row: string }>(`select t::text as row from ${name} t`)
      const whole = rows.map(({ row }) => row.replaceAll('""', '"').replaceAll('\\\\', '\\')).join('\n')
      hits.push(...found(name, whole))
      text += whole
    }
    return { hits, text }
  } finally {
    await database.close()
  }
}

describe('keys that are planted everywhere', () => {
  const config = join(home, 'batonpass.json')
  const told = join(home, 'told.txt')
  const note = (name: string) => ({ name, type: 'shell', command: `cat >> "${told}"; echo '{"continue":true}'` })
  const print = {
    name: 'leaks',
    type: 'shell',
    command: `printf '%s' "$BATONPASS_NOTHING"; cat "${join(home, 'keys.txt')}"`,
  }
  writeFileSync(join(home, 'keys.txt'), ALL)
  writeFileSync(
    config,
    JSON.stringify({
      hooks: {
        on_session_start: [note('one'), print],
        after_run: [note('two')],
        on_error: [note('three')],
        after_handoff: [note('four')],
      },
    }),
  )

  it('are in no file, no table, no output, and are counted: a terminal session', { timeout: 600_000 }, async () => {
    const session = '5b0a8a2e-6c2f-4a1e-9d7e-0f1e2d3c4b5a'
    const transcript = new Transcript(home, session)
    const input = { session_id: session, transcript_path: transcript.path, cwd: workspace }
    const service = spawnBaton(['serve', '--data-dir', folder, '--json', '--verbose'], environment())
    await until(service, () => service.said.out.includes('\n'))
    await hook('session-start', { ...input, source: 'startup' })
    await hook('user-prompt-submit', { ...input, prompt: `Please use\n${ALL}` })
    transcript.prompts(`Please use\n${ALL}`)
    transcript.answers(`I print\n${ALL}`, 1_000, 'Bash')
    transcript.answers(`All done with\n${ALL}`, 2_000)
    await hook('stop', input)
    const document = join(home, 'document.md')
    writeFileSync(document, `# State\n${ALL}`)
    const left = await baton(['handoff', document, '--reason', ALL, '--workspace', workspace, '--data-dir', folder])
    expect(left).toMatchObject({ code: 0 })
    await baton(['handoff', '--show', '--workspace', workspace, '--data-dir', folder])
    await hook('session-start', { ...input, session_id: `${session}-next`, source: 'startup' })
    await hook('user-prompt-submit', { ...input, session_id: `${session}-next`, prompt: `And now\n${ALL}` })
    expect(inFiles()).toEqual([])
    const status = await baton(['status', '--data-dir', folder])
    expect(status.out).toMatch(/Secrets: \d+ secrets were hidden/)
    const asJson = await baton(['status', '--data-dir', folder, '--json'])
    expect((JSON.parse(asJson.out) as { redaction: { hidden: number } }).redaction.hidden).toBeGreaterThan(
      SECRETS.length,
    )
    service.child.kill('SIGKILL')
    await service.ended
    outputs.push(service.said.out, service.said.err)
    expect(service.said.err).toContain('secrets were hidden')
    // No service: what a hook hears waits in the spool.
    writeFileSync(join(folder, 'service.start'), '')
    await hook('user-prompt-submit', { ...input, prompt: `Once more\n${ALL}` })
    const spooled = readdirSync(join(folder, 'spool')).filter((name) => name.endsWith('.json'))
    expect(spooled).toHaveLength(1)
    expect(readFileSync(join(folder, 'spool', spooled[0] ?? ''), 'utf8')).toContain('[hidden:')
    expect(inFiles()).toEqual([])
  })

  it('are in no file, no table, no output, and are counted: runs and readers', {
    timeout: 600_000,
  }, async () => {
    const store = ['--data-dir', folder]
    const run = (key: string, ...more: readonly string[]) => [
      ...['run', '--command', LEAKY, '--agent', 'leaky', '--conversation', key, '--config', config, ...more, ...store],
    ]
    const shown = await baton([...run('shown', '--verbose'), `Use\n${ALL}`])
    expect(shown).toMatchObject({
      code: 0,
      err: expect.stringMatching(/\d+ secrets were hidden, and kept out of the record/),
    })
    const json = await baton([...run('json', '--json', '--messages'), `Use\n${ALL}`])
    const last = JSON.parse(json.out.trim().split('\n').at(-1) ?? '') as { redaction: { hidden: number } }
    expect(last.redaction.hidden).toBeGreaterThan(SECRETS.length)
    await baton([...run('failed'), `Use\n${ALL}`], { SCRIPT: 'fail' })
    writeFileSync(join(workspace, 'summary.md'), `We use\n${ALL}`)
    const thread = [
      'thread',
      'handoff',
      '--key',
      'shown',
      '--workspace',
      workspace,
      '--summary',
      join(workspace, 'summary.md'),
    ]
    await baton([...thread, '--apply', '--yes', ...store])
    rmSync(join(workspace, 'summary.md'))
    const transcript = filesIn(join(home, '.claude'))[0] ?? ''
    await baton(['replay', transcript, '--store', ...store])
    await baton(['config', 'check', config])
    for (const key of ['shown', 'failed'])
      for (const words of [
        ['messages'],
        ['turns'],
        ['lineage'],
        ['handoffs', 'list'],
        ['audit', 'trail'],
        ['conversations', 'show'],
      ])
        for (const more of words[0] === 'messages' ? [[], ['--json']] : [['--json']])
          await baton([...words, '--key', key, ...more, ...store])
    await baton(['look-back', '--key', 'shown', '--search', ALL.slice(0, 200), ...store])
    await baton(['status', ...store])
    expect(outputs.flatMap((text, index) => found(`output ${index} ${text.split('\n')[0]}`, text))).toEqual([])
    expect(inFiles()).toEqual([])
    expect(filesIn(workspace).flatMap((file) => found(file, readFileSync(file, 'utf8')))).toEqual([])
    expect(found('hooks', readFileSync(told, 'utf8'))).toEqual([])
    expect(readFileSync(told, 'utf8')).toContain('[hidden:')
    const { hits, text } = await inTables()
    expect(hits).toEqual([])
    expect(text).toContain('[hidden:private-key]')
    expect(text).toContain('[hidden:variable]')
  })
})
