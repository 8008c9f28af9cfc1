import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { parseAst } from 'vitest/node'

/** A file of the library: its path below `src`, and what it says. */
export interface SourceFile {
  readonly path: string
  readonly text: string
}

/** One mention of another module. A missing list of names means all of them, as in `import()` or `export *`. */
export interface Import {
  readonly specifier: string
  readonly names?: readonly string[]
  /** Where the quoted specifier stands in the text. */
  readonly start: number
  readonly end: number
}

/** One name a file exports. */
export interface Export {
  readonly name: string
  readonly isType: boolean
  /** Where the statement stands in the text. */
  readonly start: number
  readonly end: number
  /** The module a name is passed on from, and what it is called there. */
  readonly from?: { readonly specifier: string; readonly name: string }
}

/** Anything in a syntax tree. */
export interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
}

type Program = ReturnType<typeof parseAst>
type Statement = Program['body'][number]
type ExportStatement = Extract<Statement, { type: 'ExportNamedDeclaration' }>

/** Every file below a folder, by path. */
export const readSources = (folder: string): readonly SourceFile[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .sort()
    .map((path) => ({ path: path.replaceAll('\\', '/'), text: readFileSync(join(folder, path), 'utf8') }))

/** Reads TypeScript. @throws SyntaxError when it is none */
export const parse = (text: string): Program => parseAst(text, { lang: 'ts', sourceType: 'module' })

/** Every node of a tree, outermost first. */
export function* nodesOf(tree: unknown): Generator<Node> {
  if (typeof tree !== 'object' || tree === null) return
  if (isNode(tree)) yield tree
  for (const part of Object.values(tree)) yield* nodesOf(part)
}

const isNode = (value: object): value is Node => 'type' in value && typeof value.type === 'string' && 'start' in value

/** Every identifier of a tree, as often as it occurs. */
export const identifiersOf = (tree: unknown): readonly string[] =>
  [...nodesOf(tree)].flatMap((node) =>
    node.type === 'Identifier' && 'name' in node && typeof node.name === 'string' ? [node.name] : [],
  )

/** Every module a file mentions: `import`, `import type`, `export … from`, `import()`, types too, side effects too. */
export const importsOf = ({ text }: Pick<SourceFile, 'text'>): readonly Import[] =>
  [...nodesOf(parse(text))].flatMap((node) => {
    const source = 'source' in node && isLiteral(node.source) ? node.source : undefined
    if (source === undefined) return []
    const { value: specifier, start, end } = source
    const names = namesTaken(node)
    return [{ specifier, start, end, ...(names && { names }) }]
  })

const isLiteral = (value: unknown): value is Node & { readonly value: string } =>
  typeof value === 'object' && value !== null && 'value' in value && typeof value.value === 'string'

const namesTaken = (node: Node): readonly string[] | undefined => {
  if (!('specifiers' in node) || !Array.isArray(node.specifiers)) return undefined
  const names = node.specifiers.map((specifier) => nameOf(specifier.imported ?? specifier.local))
  return node.specifiers.some(({ type }) => type === 'ImportNamespaceSpecifier') ? undefined : names
}

const nameOf = (name: { readonly name: string } | { readonly value: string }): string =>
  'name' in name ? name.name : name.value

/** Every name a file exports, its own or passed on. @throws Error for `export *`, which says no names */
export const exportsOf = ({ text }: Pick<SourceFile, 'text'>): readonly Export[] =>
  parse(text).body.flatMap((statement) => {
    if (statement.type === 'ExportAllDeclaration')
      throw new Error(`Say what is exported from ${statement.source.value}`)
    return statement.type === 'ExportNamedDeclaration' ? [...declared(statement), ...passedOn(statement)] : []
  })

const declared = ({ declaration, start, end }: ExportStatement): readonly Export[] => {
  if (declaration === null) return []
  if (declaration.type === 'VariableDeclaration') {
    return declaration.declarations.flatMap(({ id }) =>
      id.type === 'Identifier' ? [{ name: id.name, isType: false, start, end }] : [],
    )
  }
  if (declaration.id?.type !== 'Identifier') return []
  const isType = declaration.type === 'TSInterfaceDeclaration' || declaration.type === 'TSTypeAliasDeclaration'
  return [{ name: declaration.id.name, isType, start, end }]
}

const passedOn = ({ specifiers, source, exportKind, start, end }: ExportStatement): readonly Export[] =>
  specifiers.map(({ exported, local, exportKind: own }) => ({
    name: nameOf(exported),
    isType: exportKind === 'type' || own === 'type',
    start,
    end,
    ...(source && { from: { specifier: source.value, name: nameOf(local) } }),
  }))

/** The path below `src` that a relative import means; anything else is a package. */
export const resolveImport = (from: string, specifier: string): string | undefined =>
  specifier.startsWith('.') ? posix.join(posix.dirname(from), specifier) : undefined
