import { entryPoints, type Manifest } from './architecture.ts'
import { type Export, exportsOf, resolveImport, type SourceFile } from './source-file.ts'

/** One name of the public surface, where it is imported from and where it is declared. */
export interface PublicSymbol {
  readonly name: string
  readonly isType: boolean
  /** The entry point below `src` that exports it. */
  readonly entry: string
  /** The file below `src` that declares it. */
  readonly file: string
  /** Its TSDoc comment, without the stars; empty when there is none. */
  readonly comment: string
}

/** Every name that people can import, entry point by entry point. Commands have none: they are run. */
export const publicSymbols = (files: readonly SourceFile[], manifest: Manifest): readonly PublicSymbol[] =>
  entryPoints({ exports: manifest.exports ?? {} }).flatMap((entry) =>
    exportsOf(find(files, entry)).map(({ name }) => ({ name, entry, ...declarationOf(files, entry, name) })),
  )

const declarationOf = (
  files: readonly SourceFile[],
  path: string,
  name: string,
): Pick<PublicSymbol, 'file' | 'isType' | 'comment'> => {
  const file = find(files, path)
  const found = exportsOf(file).find((exported) => exported.name === name)
  if (found === undefined) throw new Error(`${path} exports no ${name}`)
  const { from, isType } = found
  if (from === undefined) return { file: path, isType, comment: commentBefore(file, found) }
  return declarationOf(files, resolveImport(path, from.specifier) ?? from.specifier, from.name)
}

const find = (files: readonly SourceFile[], path: string): SourceFile => {
  const file = files.find((candidate) => candidate.path === path)
  if (file === undefined) throw new Error(`There is no src/${path}`)
  return file
}

const commentBefore = ({ text }: SourceFile, { start }: Export): string =>
  withoutStars(text.slice(0, start).match(/\/\*\*(?:(?!\*\/)[\s\S])*\*\/\s*$/)?.[0] ?? '')

/** What a TSDoc comment says. */
export const withoutStars = (comment: string): string =>
  comment
    .trim()
    .replace(/^\/\*\*\s*/, '')
    .replace(/\s*\*\/$/, '')
    .replaceAll(/^[ \t]*\* ?/gm, '')

/** What is missing from the comments of public names: what each is for, and an example for each value. */
export const undocumented = (
  symbols: readonly PublicSymbol[],
  exempt: Readonly<Record<string, string>>,
): readonly string[] =>
  symbols.flatMap(({ name, isType, file, comment }) => {
    if (!SAYS_SOMETHING.test(comment)) return [`${file}: ${name} does not say what it is for`]
    if (isType || name in exempt || EXAMPLE.test(comment)) return []
    return [`${file}: ${name} has no example`]
  })

const SAYS_SOMETHING = /^[A-Z*`]\S*( \S+)+/
const EXAMPLE = /^@example\n```ts\n[\s\S]+?\n```/m
