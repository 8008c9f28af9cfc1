import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { examplesInMarkdown } from './support/examples.ts'
import { exportsOf, importsOf } from './support/source-file.ts'

/** A newcomer reads the list of names once. What fewer people need has a sub-path. */
const MOST = 60

const files = (folder: string, ending: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(ending))
    .map((path) => join(folder, path))

const read = (path: string): string => readFileSync(path, 'utf8')

/** The names that a piece of code imports from the root of the package. */
const fromRoot = (text: string): readonly string[] =>
  importsOf({ text })
    .filter(({ specifier }) => specifier === 'batonpass' || /^(\.\.\/)+src\/entry\/index\.ts$/.test(specifier))
    .flatMap(({ names = [] }) => names)

/** Examples in documents are compiled and run by documentation.test.ts, programs in examples/ by the compiler and below. */
const usedNames = (): ReadonlySet<string> =>
  new Set(
    [
      ...['README.md', ...files('docs', '.md')].flatMap((path) =>
        examplesInMarkdown(path, read(path)).map(({ code }) => code),
      ),
      ...files('examples', '.ts').map(read),
    ].flatMap(fromRoot),
  )

describe('the names of the root', () => {
  const names = exportsOf({ text: read('src/entry/index.ts') }).map(({ name }) => name)

  it(`are ${MOST} at most`, () => {
    expect(names.length).toBeGreaterThan(20)
    expect(names.length).toBeLessThanOrEqual(MOST)
  })

  it('are each used by an example that runs', () => {
    const used = usedNames()
    expect(names.filter((name) => !used.has(name))).toEqual([])
  })

  it('are seen when no example uses one', () => {
    expect(fromRoot("import { createBatonpass, type Refusal } from 'batonpass'")).toEqual([
      'createBatonpass',
      'Refusal',
    ])
    expect(fromRoot("import { HandoffService } from 'batonpass/container'")).toEqual([])
  })

  it('are used together by an orchestrator, whose programs run', async () => {
    const program = ['--import', 'tsx', 'examples/orchestrator/main.ts']
    const { stdout } = await promisify(execFile)(process.execPath, program)
    expect(stdout.split('\n').filter((line) => !line.includes('events'))).toEqual([
      'later',
      'turn 1: run_tests; the window held 0 messages',
      '0 signals wait',
      'true',
      'job: Mend the login test',
      '1. claude-code: handed_off, over',
      '2. opus: active, has the baton',
      'claude-code -> opus, completed, after run_tests',
      'conversation.opened session.started',
      "{ code: 'session.no_turns', text: '[withheld]' }",
      'Done: Greet',
      'completed',
      '0 recovered',
      '1 problem(s) in the configuration',
      '',
    ])
  })
})
