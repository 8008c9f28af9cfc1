import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CLONE } from '../test/support/clean-room.ts'

/** The files that took no longer than this together are run; three run at once, so it is about a third of it by the clock. */
const MOST_MS = 270_000

/** Helpers that start the servers of a test run; a test that only uses a database starts no process. */
const SERVERS = /^test\/support\/(postgres-server|pooler|test-databases)\.ts$/

const read = (path: string): string | undefined => {
  try {
    return readFileSync(join(CLONE, path), 'utf8')
  } catch {
    return undefined
  }
}

/** Whether a file of the tests starts processes or runs the command line, itself or by a helper. */
export const startsProcesses = (path: string, textOf = read, seen = new Set<string>()): boolean => {
  const text = seen.has(path) || SERVERS.test(path) ? undefined : textOf(path)
  seen.add(path)
  const imported = [...(text ?? '').matchAll(/(?:from|import) '([^']+)'/g)].map(([, name = '']) => name)
  return imported.some(
    (name) =>
      name === 'node:child_process' ||
      name.endsWith('/cli/run.ts') ||
      (name.startsWith('.') && startsProcesses(posix.join(posix.dirname(path), name), textOf, seen)),
  )
}

/** The test files that start processes. */
const testFiles = (): readonly string[] =>
  readdirSync(join(CLONE, 'test'), { recursive: true, encoding: 'utf8' })
    .map((path) => `test/${path}`)
    .filter((path) => path.endsWith('.test.ts') && !path.startsWith('test/agents/') && startsProcesses(path))
    .sort()

/** How long each file took the last time, as vitest wrote it down. */
const tookMs = (): ReadonlyMap<string, number> => {
  const folder = join(CLONE, 'node_modules/.vite/vitest')
  const notes = existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name, 'results.json')) : []
  return new Map(
    notes.filter(existsSync).flatMap((path) => {
      const { results } = JSON.parse(readFileSync(path, 'utf8')) as { results: [string, { duration: number }][] }
      return results.map(([file, { duration }]) => [file.replace(/^.*?:/, ''), duration] as const)
    }),
  )
}

/** The shortest files first, as many as end in time. A file that was never run is run. */
export const within = (files: readonly string[], took: ReadonlyMap<string, number>, most: number) => {
  let sum = 0
  const isChosen = new Map(
    files
      .toSorted((a, b) => (took.get(a) ?? 0) - (took.get(b) ?? 0))
      .map((file) => {
        sum += took.get(file) ?? 0
        return [file, sum <= most] as const
      }),
  )
  return { chosen: files.filter((file) => isChosen.get(file)), leftOut: files.filter((file) => !isChosen.get(file)) }
}

/** A home as people have them, with things in it that tests must neither meet nor change. */
const LYING_AROUND: Readonly<Record<string, string>> = {
  '.batonpass/data/PG_VERSION': 'not a store that any program can read\n',
  '.batonpass/stores.json': '{"v":1,"stores":[{"kind":"folder","path":"/","id":"mine"}]}\n',
  '.batonpass/service.token': 'the-token-of-the-person\n',
  '.batonpass/config.yaml': 'milestones: this is no list\n',
  '.claude/settings.json': '{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"baton hook"}]}]}}\n',
  '.claude/CLAUDE.md': '# Mine\n',
  '.claude.json': '{"mcpServers":{"baton":{"command":"baton","args":["mcp"]}}}\n',
  '.codex/config.toml': 'notify = ["baton", "hook"]\n',
  '.codex/hooks.json': '{"hooks":{}}\n',
  '.config/git/ignore': '*\n',
  '.gitconfig': '[commit]\n\tgpgsign = true\n[core]\n\thooksPath = /nowhere\n[init]\n\tdefaultBranch = odd\n',
  '.npmrc': 'ignore-scripts=true\n',
  '.psqlrc': '\\set QUIET 1\n',
}

/** An environment as people have them, all of it leading to what nobody may touch. */
const environmentOf = (home: string, port: number): NodeJS.ProcessEnv => {
  const [database, web] = [`postgres://person:secret@127.0.0.1:${port}/person`, `http://127.0.0.1:${port}`]
  return {
    ...process.env,
    ...{ HOME: home, USERPROFILE: home, XDG_CONFIG_HOME: join(home, '.config'), XDG_RUNTIME_DIR: home },
    ...{ XDG_DATA_HOME: home, XDG_STATE_HOME: home, XDG_CACHE_HOME: home },
    ...{ DATABASE_URL: database, DATABASE_URL_FILE: join(home, '.npmrc') },
    ...{ BATONPASS_DATABASE_URL: database, BATONPASS_DATABASE_URL_FILE: join(home, '.npmrc') },
    ...{ PGHOST: '127.0.0.1', PGPORT: String(port), PGUSER: 'person', PGPASSWORD: 'secret', PGDATABASE: 'person' },
    ...{ PGSSLMODE: 'require', PGOPTIONS: '-c search_path=nowhere', PGDATA: home, PGAPPNAME: 'person', PGTZ: 'Turkey' },
    ...{ BATONPASS_DATA_DIR: join(home, '.batonpass'), BATONPASS_CONFIG: join(home, '.batonpass/config.yaml') },
    ...{
      BATONPASS_HOOK_BUDGET_MS: '1',
      BATONPASS_RUN: 'mine',
      BATONPASS_LAUNCH: 'mine',
      BATONPASS_TOOLS_TOKEN: 'mine',
    },
    ...{
      CLAUDE_CONFIG_DIR: join(home, '.claude'),
      CLAUDE_PROJECT_DIR: home,
      CLAUDE_CODE_SESSION_ID: 'mine',
      CLAUDECODE: '1',
    },
    ...{ CODEX_HOME: join(home, '.codex'), OPENAI_API_KEY: 'sk-mine', OPENAI_BASE_URL: web },
    ...{ ANTHROPIC_API_KEY: 'sk-ant-mine', ANTHROPIC_BASE_URL: web, ANTHROPIC_MODEL: 'of-the-person' },
    ...{ HTTP_PROXY: web, HTTPS_PROXY: web, OTEL_EXPORTER_OTLP_ENDPOINT: web },
    ...{ GIT_DIR: join(home, 'no-repository'), GIT_CONFIG_GLOBAL: join(home, '.gitconfig'), GIT_EDITOR: 'false' },
    ...{ EDITOR: 'false', VISUAL: 'false', PAGER: 'false', COLUMNS: '20', LINES: '3', TERM: 'dumb' },
    ...{ NO_COLOR: '1', LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8', NODE_OPTIONS: '--title=of-the-person' },
    ...{ NODE_ENV: 'production', BASH_ENV: join(home, '.npmrc'), ENV: join(home, '.npmrc') },
  }
}

/** Everything in a folder, by path: what kind it is, its mode, when it was written and what is in it. */
export const fingerprint = (folder: string): ReadonlyMap<string, string> => {
  if (!existsSync(folder)) return new Map()
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
  return new Map(
    ['.', ...paths].map((name) => {
      const path = join(folder, name)
      const found = lstatSync(path)
      const words = found.isFile() ? createHash('sha256').update(readFileSync(path)).digest('hex') : ''
      const target = found.isSymbolicLink() ? readlinkSync(path) : ''
      return [path, [found.mode, found.mtimeMs, words, target].join(' ')] as const
    }),
  )
}

/** The paths that were added, removed or changed. */
export const changes = (before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): readonly string[] =>
  [...new Set([...before.keys(), ...after.keys()])].filter((path) => before.get(path) !== after.get(path)).sort()

const homeOfSomebody = (): string => {
  const home = mkdtempSync(join(tmpdir(), 'baton-somebody-'))
  for (const [name, text] of Object.entries(LYING_AROUND)) {
    mkdirSync(dirname(join(home, name)), { recursive: true, mode: 0o700 })
    writeFileSync(join(home, name), text, { mode: 0o600 })
  }
  return home
}

/** What listens where the person's service, database and providers are. Nobody may call. */
const listener = async () => {
  let calls = 0
  const server = createServer((socket) => {
    calls += 1
    socket.on('error', () => {}).destroy()
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return { port: (server.address() as AddressInfo).port, calls: () => calls, close: () => server.close() }
}

const vitest = (files: readonly string[], env: NodeJS.ProcessEnv): Promise<number> =>
  new Promise((done) => {
    const words = [join(CLONE, 'node_modules/vitest/vitest.mjs'), 'run', '--reporter=dot', ...files]
    const child = spawn(process.execPath, words, { cwd: CLONE, env, stdio: 'inherit' })
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => child.kill(signal))
    child.once('close', (code) => done(code ?? 1))
  })

/**
 * Runs the tests that start processes once more, in this clone as it was left and as somebody who has much lying around,
 * and fails where a test fails, calls somebody's service or database, or changes something that is not its own.
 */
const main = async (named: readonly string[]): Promise<number> => {
  const { chosen, leftOut } = within(named.length > 0 ? named : testFiles(), tookMs(), MOST_MS)
  if (leftOut.length > 0) console.log(`Left out, because they take too long: ${leftOut.join(', ')}`)
  const [home, theirs] = [homeOfSomebody(), await listener()]
  const running = { port: theirs.port, pid: process.pid, token: 'mine', version: '0.1.0' }
  writeFileSync(join(home, '.batonpass/service.json'), JSON.stringify(running), { mode: 0o600 })
  const look = () => new Map([home, join(CLONE, '.batonpass')].flatMap((folder) => [...fingerprint(folder)]))
  const before = look()
  const status = await vitest(chosen, environmentOf(home, theirs.port))
  const changed = changes(before, look())
  theirs.close()
  rmSync(home, { recursive: true, force: true, maxRetries: 10 })
  if (changed.length > 0) console.error(`Tests changed what is not theirs:\n${changed.join('\n')}`)
  if (theirs.calls() > 0)
    console.error(`Tests called the person's service, database or provider ${theirs.calls()} times.`)
  return status !== 0 || changed.length > 0 || theirs.calls() > 0 ? 1 : 0
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = await main(process.argv.slice(2))
