import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { DESIGN, renderDocs } from '../scripts/docs.ts'
import type { Manifest } from './support/architecture.ts'
import { checkExamples, type Example, examplesInMarkdown, examplesInSource, withImports } from './support/examples.ts'
import { publicSymbols, undocumented } from './support/public-surface.ts'
import { readSources, type SourceFile } from './support/source-file.ts'

const SHARED = 'all ids are read alike: see conversationId'

/** Values that need no example of their own, and why. */
const NO_EXAMPLE: Readonly<Record<string, string>> = {
  agentSessionId: SHARED,
  commandId: SHARED,
  handoffId: SHARED,
  holderToken: SHARED,
  messageId: SHARED,
  signalId: SHARED,
  snapshotId: SHARED,
  turnId: SHARED,
}

const MANIFEST = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest
const SOURCES = readSources('src')
const SYMBOLS = publicSymbols(SOURCES, MANIFEST)

const read = (path: string): string => {
  if (!existsSync(path)) throw new Error(`There is no ${path}`)
  return readFileSync(path, 'utf8')
}

const markdownFiles = (): readonly string[] => [
  ...['README.md'].filter(existsSync),
  ...(existsSync('docs') ? readdirSync('docs', { recursive: true, encoding: 'utf8' }) : [])
    .filter((path) => path.endsWith('.md'))
    .sort()
    .map((path) => join('docs', path)),
]

/** Checks examples in a directory of their own; a test that fails leaves it behind, to be looked at. */
const check = (examples: readonly Example[], name: string) => {
  const directory = join('.examples', `${name}-${process.pid}`)
  onTestFinished(({ task }) => {
    if (task.result?.state === 'pass') rmSync(directory, { recursive: true, force: true, maxRetries: 10 })
  })
  return checkExamples(examples, directory, MANIFEST)
}

describe('public names', () => {
  const planted = (text: string): readonly SourceFile[] => [
    { path: 'entry/index.ts', text: "export { make, type Made } from '../domain/make.ts'" },
    { path: 'domain/make.ts', text },
  ]
  const missing = (text: string): readonly string[] =>
    undocumented(publicSymbols(planted(text), { exports: { '.': './dist/entry/index.js' } }), {})

  it('say what they are for, and values show it', () => {
    expect(SYMBOLS.length).toBeGreaterThan(50)
    expect(undocumented(SYMBOLS, NO_EXAMPLE)).toEqual([])
  })

  it('are exempt only while they exist and have no example', () => {
    expect(undocumented(SYMBOLS, {}).toSorted()).toEqual(
      Object.keys(NO_EXAMPLE).map((name) => `domain/kernel/ids.ts: ${name} has no example`),
    )
  })

  it('are seen when they say nothing, or show nothing', () => {
    const type = '/** What was made. */\nexport interface Made {}\n'
    expect(missing(`${type}export const make = 1`)).toEqual(['domain/make.ts: make does not say what it is for'])
    expect(missing(`${type}/** Make */\nexport const make = 1`)).toEqual([
      'domain/make.ts: make does not say what it is for',
    ])
    expect(missing(`${type}/** Makes one thing. */\nexport const make = 1`)).toEqual([
      'domain/make.ts: make has no example',
    ])
    expect(missing(`${type}/**\n * @example\n * \`\`\`ts\n * make\n * \`\`\`\n */\nexport const make = 1`)).toEqual([
      'domain/make.ts: make does not say what it is for',
    ])
    expect(
      missing(`${type}/**\n * Makes it.\n *\n * @example\n * \`\`\`ts\n * make\n * \`\`\`\n */\nexport const make = 1`),
    ).toEqual([])
  })

  it('do not borrow the comment of a neighbour', () => {
    const text =
      '/** What was made. */\nconst other = 1\nexport interface Made {}\n/** One thing. */\nexport const make = other'
    expect(missing(text)).toContain('domain/make.ts: Made does not say what it is for')
  })
})

// Bounded work, for which a busy machine may take its time.
describe('examples', { timeout: 0 }, () => {
  const inSource = SOURCES.flatMap((file) => examplesInSource(file, SYMBOLS))
  const inMarkdown = markdownFiles().flatMap((path) => examplesInMarkdown(path, read(path)))

  it('compile and run, in comments and in documents', async () => {
    expect(inSource.length).toBeGreaterThan(20)
    const { problems } = await check([...inSource, ...inMarkdown], 'all')
    expect(problems).toEqual([])
  })

  it('begin with one in the README that prints something', async () => {
    const [first] = examplesInMarkdown('README.md', read('README.md'))
    if (first === undefined) throw new Error('README.md shows no code')
    const silent = { shownIn: 'a silent one', code: first.code.replaceAll(/console\.\w+\((.*)\)/g, 'void [$1]') }
    const { problems, printed } = await check([first, silent], 'readme')
    expect(problems).toEqual([])
    expect(printed[first.shownIn]).toMatch(/\S/)
    expect(printed[silent.shownIn]).toBe('')
  })

  it('are seen when one does not compile, by its place', async () => {
    const text =
      "# Guide\n\n```ts\nimport { conversationId } from 'batonpass'\n\nconst id: number = conversationId('x')\n```\n"
    const { problems } = await check(examplesInMarkdown('docs/guide.md', text), 'planted-type-error')
    expect(problems).toContainEqual(expect.stringMatching(/^docs\/guide\.md:3\(3,7\): error TS2322/))
  })

  it('are seen when one throws, and the others still run', async () => {
    const throwing = { shownIn: 'a throwing one', code: "throw new Error('planted')" }
    const printing = { shownIn: 'a printing one', code: 'console.log(1 + 1)' }
    const { problems, printed } = await check([throwing, printing], 'planted-throw')
    expect(problems).toEqual(['a throwing one: Error: planted'])
    expect(printed['a printing one']).toBe('2')
  })

  it('are seen when one never ends, ends the process, or fails after it was imported', async () => {
    const hanging = await check([{ shownIn: 'a hanging one', code: 'await new Promise(() => {})' }], 'planted-hang')
    expect(hanging.problems).toEqual([expect.stringContaining('a hanging one did not come to an end')])
    const exiting = await check([{ shownIn: 'an exiting one', code: 'process.exit(0)' }], 'planted-exit')
    expect(exiting.problems).toEqual([expect.stringContaining('an exiting one did not come to an end')])
    const code = "setTimeout(() => { throw new Error('planted late') })"
    const late = await check([{ shownIn: 'a late one', code }], 'planted-late')
    expect(late.problems).toEqual([expect.stringContaining('planted late')])
  })

  it('are seen when one prints something else than it promises', async () => {
    const { problems } = await check([{ shownIn: 'a lie', code: 'console.log(1 + 1) // => 3' }], 'planted-lie')
    expect(problems).toEqual(['a lie promises "3" and prints "2"'])
  })

  it('import the public names they use, unless they bring them', () => {
    expect(withImports('console.log(instant(0))', SYMBOLS)).toMatch(
      /^import \{ instant \} from 'src:entry\/index\.ts'\n/,
    )
    expect(withImports('const at: Instant = now()', SYMBOLS)).toMatch(/^import \{ type Instant \} from/)
    expect(withImports('const refusal = 1', SYMBOLS)).toBe('const refusal = 1')
    expect(withImports("import { unwrap } from 'batonpass'\nunwrap", SYMBOLS)).not.toContain('src:')
  })
})

describe('generated parts of the documents', () => {
  const place = (name: string): string => `<!-- generated: ${name} -->\nold\n<!-- /generated -->`
  const tables = `${place('layers')}\n\n${place('rooms')}`
  const stale = `# Design\n\n${place('session-lifecycle')}\n\nBetween.\n\n${place('handoff-lifecycle')}\n\n${place('document-lifecycle')}\n\n${tables}\n\nAfter.\n`

  it('are as the code has them: otherwise run scripts/docs.ts', () => {
    const text = read(DESIGN)
    expect(text).toBe(renderDocs(text))
  })

  it('are seen when they are stale', () => {
    const fresh = renderDocs(stale)
    expect(fresh).not.toBe(stale)
    expect(renderDocs(fresh)).toBe(fresh)
    const wrong = fresh.replace('paused --> active: resume', 'paused --> failed: resume')
    expect(wrong).not.toBe(fresh)
    expect(renderDocs(wrong)).toBe(fresh)
  })

  it('leave the rest of the text alone', () => {
    const rest = (text: string): string => text.replaceAll(/-->\n[\s\S]*?\n<!-- \/g/g, '')
    expect(rest(renderDocs(stale))).toBe(rest(stale))
    expect(renderDocs(stale)).toContain('```mermaid\nstateDiagram-v2\n  [*] --> initiated\n')
  })

  it('need their places', () => {
    expect(() => renderDocs(`# Design\n${tables}`)).toThrow('There is no <!-- generated: session-lifecycle -->')
    const unclosed = stale.replace('<!-- /generated -->', '')
    expect(() => renderDocs(unclosed)).toThrow('There is no <!-- generated: session-lifecycle -->')
  })
})
