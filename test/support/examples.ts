import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { promisify } from 'node:util'
import { entryPoints, type Manifest } from './architecture.ts'
import { type PublicSymbol, withoutStars } from './public-surface.ts'
import type { Ran } from './run-examples.ts'
import { identifiersOf, importsOf, nodesOf, parse, type SourceFile } from './source-file.ts'

/** A piece of code that documentation shows. */
export interface Example {
  /** Where it is shown, such as `docs/guide.md:12`. */
  readonly shownIn: string
  readonly code: string
}

/** What became of a set of examples. */
export interface ExamplesReport {
  /** Type errors and failures, each with the example it is in. */
  readonly problems: readonly string[]
  /** What each example printed. */
  readonly printed: Readonly<Record<string, string>>
}

const FENCE = /^```(?:ts|typescript)\b.*\n([\s\S]*?)^```/gm

/** The examples of a Markdown text. They import what they use, as a reader would. */
export const examplesInMarkdown = (path: string, text: string): readonly Example[] =>
  [...text.matchAll(FENCE)].map(({ index, 1: code = '' }) => ({
    shownIn: `${path}:${text.slice(0, index).split('\n').length}`,
    code,
  }))

/** The examples of a source file's comments, with imports of the public names they use. */
export const examplesInSource = (file: SourceFile, symbols: readonly PublicSymbol[]): readonly Example[] =>
  [...file.text.matchAll(/\/\*\*(?:(?!\*\/)[\s\S])*@example(?:(?!\*\/)[\s\S])*\*\//g)].flatMap(
    ({ 0: comment, index }) => {
      const line = file.text.slice(0, index).split('\n').length
      return examplesInMarkdown('', withoutStars(comment)).map(({ code }) => ({
        shownIn: `src/${file.path}:${line}`,
        code: withImports(code, symbols),
      }))
    },
  )

/** The code, after imports of the public names it uses and does not bring itself. */
export const withImports = (code: string, symbols: readonly PublicSymbol[]): string => {
  const used = new Set(identifiersOf(parse(code)))
  const own = new Set(namesBroughtBy(code))
  const imports = symbols
    .filter(({ name }) => used.has(name) && !own.has(name))
    .map(({ name, isType, entry }) => `import { ${isType ? 'type ' : ''}${name} } from '${SRC}${entry}'\n`)
  return imports.join('') + code
}

/** Stands for the way from an example to `src`. */
const SRC = 'src:'

const namesBroughtBy = (code: string): readonly string[] =>
  [...nodesOf(parse(code))].flatMap((node) => {
    if (node.type === 'VariableDeclarator' && 'id' in node) return identifiersOf(withoutType(node.id))
    return node.type.startsWith('Import') && 'local' in node ? identifiersOf(node.local) : []
  })

const withoutType = (pattern: unknown): unknown => Object.assign({}, pattern, { typeAnnotation: null })

/** Type-checks all examples in one run of the compiler, and runs each, in one process, in a directory left to be read. */
export const checkExamples = async (
  examples: readonly Example[],
  directory: string,
  manifest: Manifest,
): Promise<ExamplesReport> => {
  rmSync(directory, { recursive: true, force: true, maxRetries: 10 })
  mkdirSync(directory, { recursive: true })
  const files = examples.map((_, index) => `example-${index + 1}.ts`)
  for (const [index, { code }] of examples.entries()) {
    writeFileSync(join(directory, files[index] ?? ''), withSources(code, directory, manifest))
  }
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify(configIn(directory), undefined, 2))
  const named = (text: string): string =>
    text.replaceAll(/example-(\d+)\.ts/g, (_, number) => examples[number - 1]?.shownIn ?? '')
  const [types, ran] = await Promise.all([typeCheck(directory), runAll(files, directory)])
  const printed = Object.fromEntries(Object.entries(ran.printed).map(([file, text]) => [named(file), text]))
  const promises = examples.flatMap((example) => brokenPromises(example, printed[example.shownIn]))
  return { problems: [...types, ...ran.problems, ...promises].map(named), printed }
}

/** The lines an example says it prints (`// => …`) and does not. */
const brokenPromises = ({ shownIn, code }: Example, printed = ''): readonly string[] =>
  [...code.matchAll(/\/\/ => (.+)$/gm)]
    .filter(({ 1: promised = '' }) => !printed.split('\n').includes(promised))
    .map(({ 1: promised }) => `${shownIn} promises "${promised}" and prints "${printed}"`)

/** The code with the package's own names replaced by the sources behind them. It is always a module. */
const withSources = (code: string, directory: string, manifest: Manifest): string => {
  const toSrc = (path: string): string => relative(directory, join('src', path)).replaceAll('\\', '/')
  const sources = sourcesByName(manifest)
  const rewritten = importsOf({ text: code }).reduceRight((text, { specifier, start, end }) => {
    const path = specifier.startsWith(SRC) ? specifier.slice(SRC.length) : sources.get(specifier)
    return path === undefined ? text : `${text.slice(0, start)}'${toSrc(path)}'${text.slice(end)}`
  }, code)
  return `${rewritten}\nexport {}\n`
}

const sourcesByName = ({ name = '', exports = {} }: Manifest): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(exports).flatMap(([subpath, target]) =>
      entryPoints({ exports: { [subpath]: target } }).map((path) => [subpath.replace('.', name), path] as const),
    ),
  )

/** The project's own options, except that an example need not use all it shows. */
const configIn = (directory: string) => ({
  extends: relative(directory, 'tsconfig.json'),
  compilerOptions: { noUnusedLocals: false, noUnusedParameters: false },
  include: ['*.ts'],
})

const run = promisify(execFile)

const LONGEST_COMPLAINT = 5_000
/** Only for what hangs: a busy machine may take its time. */
const HANGS_MS = 600_000

/** What a process said that did not end well; empty for one that did. */
const complaintOf = async (file: string, args: readonly string[], cwd: string): Promise<string> => {
  try {
    await run(file, [...args], { cwd, timeout: HANGS_MS })
    return ''
  } catch (problem) {
    const { stdout = '', stderr = '', message } = problem as Error & { stdout?: string; stderr?: string }
    return [stdout, stderr].join('\n').trim().slice(0, LONGEST_COMPLAINT) || message
  }
}

const typeCheck = async (directory: string): Promise<readonly string[]> => {
  const complaint = await complaintOf(resolve('node_modules/.bin/tsc'), ['-p', '.', '--pretty', 'false'], directory)
  return complaint === '' ? [] : complaint.split('\n')
}

const RUNNER = resolve('test/support/run-examples.ts')

const runAll = async (files: readonly string[], directory: string): Promise<ExamplesReport> => {
  const complaint = await complaintOf(process.execPath, ['--import', 'tsx', RUNNER, ...files], directory)
  const ran = readFileSync(join(directory, 'ran.jsonl'), { encoding: 'utf8', flag: 'a+' })
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Ran)
  const problems = ran.flatMap(({ file, problem }) => (problem === undefined ? [] : [`${file}: ${problem}`]))
  const unfinished = files[ran.length]
  if (unfinished !== undefined) problems.push(`${unfinished} did not come to an end: ${complaint}`)
  else if (complaint !== '' && problems.length === 0) problems.push(complaint)
  return { problems, printed: Object.fromEntries(ran.map(({ file, printed }) => [file, printed])) }
}
