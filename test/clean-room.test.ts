import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { changes, fingerprint, startsProcesses, within } from '../scripts/test-leftovers.ts'
import { CLONE, cleanEnvironment, KEPT } from './support/clean-room.ts'

const room = realpathSync(join(process.cwd(), '..'))

/** Every file of the tests and the scenarios, by path, but for the room itself and its test. */
const FILES: ReadonlyMap<string, string> = new Map(
  ['test', 'features'].flatMap((folder) =>
    readdirSync(join(CLONE, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.(ts|mjs)$/.test(path) && !/node_modules|clean-room/.test(path))
      .map((path) => [`${folder}/${path}`, readFileSync(join(CLONE, folder, path), 'utf8')] as const),
  ),
)

/** The variables of its environment that a text asks for. */
const asked = (text: string): readonly string[] => [
  ...[...text.matchAll(/process\.env\.([A-Z][A-Z_]+)/g)].map(([, name = '']) => name),
  ...[...text.matchAll(/\{([^{}]*)\} = process\.env\b/g)].flatMap(([, names = '']) =>
    names.split(',').flatMap((name) => /^\s*([A-Z][A-Z_]+)/.exec(name)?.[1] ?? []),
  ),
]

const isKept = (name: string): boolean => Object.keys(cleanEnvironment({ [name]: '' })).length > 0

/** The files that start a process in the clone, or look for the person's home by themselves. */
const leaving = (files: ReadonlyMap<string, string>): readonly string[] =>
  [...files]
    .filter(([, text]) => /\bcwd: (CLONE|ROOT|HERE)\b|chdir\((CLONE|ROOT|HERE)\)|userInfo\(/.test(text))
    .map(([path]) => path)
    .sort()

describe('the room of a test', () => {
  it('is its working folder and its home, and neither is the clone', () => {
    expect(room.startsWith(realpathSync(tmpdir()))).toBe(true)
    expect(homedir()).toBe(process.env.HOME)
    expect(realpathSync(homedir())).toBe(join(room, 'home'))
    expect(readdirSync(homedir())).toEqual([])
    expect(existsSync('.batonpass')).toBe(false)
    expect(existsSync('.git')).toBe(false)
  })

  it('has nothing in its environment but what the table lists', () => {
    const given = ['GIT_CONFIG_NOSYSTEM', 'HOME', 'XDG_RUNTIME_DIR']
    expect(Object.keys(process.env).filter((name) => !isKept(name) && !given.includes(name))).toEqual([])
    expect(process.env.TEST_DATABASE_URL).toMatch(/^postgres/)
  })

  it('keeps out a store, a home and an environment, whatever they are', () => {
    const place = mkdtempSync(join(tmpdir(), 'batonpass-person-'))
    onTestFinished(() => rmSync(place, { recursive: true, force: true }))
    mkdirSync(join(place, '.batonpass/data'), { recursive: true })
    const program = `
      import { enterCleanRoom } from ${JSON.stringify(join(CLONE, 'test/support/clean-room.ts'))}
      import { homedir } from 'node:os'
      import { existsSync } from 'node:fs'
      enterCleanRoom()
      console.log(JSON.stringify({ names: Object.keys(process.env).sort(), home: homedir(), cwd: process.cwd(), store: existsSync('.batonpass') }))`
    const nasty = Object.fromEntries(
      ['DATABASE_URL', 'PGHOST', 'PGSSLMODE', 'BATONPASS_DATA_DIR', 'CLAUDE_CONFIG_DIR', 'ANTHROPIC_API_KEY', 'GIT_DIR']
        .concat([
          'OPENAI_API_KEY',
          'CODEX_HOME',
          'XDG_CONFIG_HOME',
          'EDITOR',
          'NO_COLOR',
          'COLUMNS',
          'npm_config_prefix',
        ])
        .map((name) => [name, place]),
    )
    const words = ['--import', createRequire(import.meta.url).resolve('tsx'), '--input-type=module', '-e', program]
    const env = { ...nasty, LANG: 'tr_TR.UTF-8', PATH: process.env.PATH, HOME: place, TEST_DATABASE_URL: 'of-the-run' }
    const said = execFileSync(process.execPath, words, { cwd: place, env, encoding: 'utf8' })
    const found = JSON.parse(said) as { names: string[]; home: string; cwd: string; store: boolean }
    expect(found.names).toEqual(['GIT_CONFIG_NOSYSTEM', 'HOME', 'PATH', 'TEST_DATABASE_URL', 'XDG_RUNTIME_DIR'])
    expect(found.store).toBe(false)
    for (const path of [found.home, found.cwd]) {
      expect(path).not.toContain(place)
      expect(existsSync(path), 'a room is gone with its process').toBe(false)
    }
  })
})

describe('every test', () => {
  const text = (path: string): string => readFileSync(join(CLONE, path), 'utf8')

  it('is taken into a room by what runs it', () => {
    expect(text('vitest.config.ts')).toContain("setupFiles: ['test/support/enter-clean-room.ts']")
    const { scripts } = JSON.parse(text('test/agents/package.json')) as { scripts: Record<string, string> }
    for (const script of Object.values(scripts).filter((words) => words.includes('--test ')))
      expect(script).toContain('--import ../support/enter-clean-room.ts --test ')
    for (const path of ['features/support/clean-room.ts', 'scripts/chaos.ts', 'scripts/fleet.ts'])
      expect(text(path)).toMatch(/\benterCleanRoom\(\)/)
  })

  it('asks only for variables that are in the table, or that a test gives to its own processes', () => {
    const all = [...FILES.values()].join('\n')
    const isGiven = (name: string): boolean => new RegExp(`\\b${name}(:|=| = | \\})`).test(all)
    const unknown = [...FILES].flatMap(([path, found]) =>
      asked(found)
        .filter((name) => !isKept(name) && !isGiven(name) && name !== 'HOME')
        .map((name) => `${path}: ${name}`),
    )
    expect(unknown).toEqual([])
    expect(asked('process.env.ODD_NAME; const { GRID, TEST_X: SERVER = "", LAST } = process.env')).toEqual([
      'ODD_NAME',
      'GRID',
      'TEST_X',
      'LAST',
    ])
  })

  it('lists no variable that no test asks for', () => {
    const read = new Set([...FILES.values()].flatMap(asked))
    const names = Object.keys(KEPT).filter(
      (name) => !name.endsWith('*') && name !== 'TMPDIR' && name !== 'NODE_TEST_CONTEXT',
    )
    expect(names.filter((name) => !read.has(name))).toEqual([])
  })

  it('starts its processes in the room', () => {
    // Cucumber is started from the clone and enters a room; the compiler reads the types that stand beside it.
    expect(leaving(FILES)).toEqual(['test/agents/types.test.ts', 'test/features.test.ts'])
    expect(leaving(new Map([['planted', 'spawn(node, [], { cwd: CLONE })']]))).toEqual(['planted'])
  })
})

describe('the run with leftovers', () => {
  it('finds the tests that start processes, by their helpers too, and not those that only use a database', () => {
    for (const path of ['test/cli/status.test.ts', 'test/demo.test.ts', 'test/embedded/two-openers.test.ts'])
      expect(startsProcesses(path), path).toBe(true)
    for (const path of ['test/domain/ids.test.ts', 'test/schema/snapshot.test.ts'])
      expect(startsProcesses(path), path).toBe(false)
  })

  it('takes the shortest files, and names those that would take too long', () => {
    const took = new Map([...'abc'].map((name, at) => [name, at * 100] as const))
    expect(within(['c', 'b', 'new', 'a'], took, 150)).toEqual({ chosen: ['b', 'new', 'a'], leftOut: ['c'] })
  })

  it('sees what a test added, removed, wrote again and opened to others', () => {
    const [before, after] = [
      new Map([...'abc'].map((name) => [name, 'as it was'])),
      new Map([...'bcd'].map((name) => [name, name === 'b' ? 'otherwise' : 'as it was'])),
    ]
    expect(changes(before, after)).toEqual(['a', 'b', 'd'])
    expect([...fingerprint(join(CLONE, '.ci')).keys()]).toEqual([join(CLONE, '.ci'), join(CLONE, '.ci/run')])
  })
})
