import { dirname } from 'node:path/posix'
import { ANY_ADAPTER, type Layer, type Room } from './import-table.ts'
import {
  type Export,
  exportsOf,
  identifiersOf,
  importsOf,
  type Node,
  nodesOf,
  parse,
  resolveImport,
  type SourceFile,
} from './source-file.ts'

/** Each layer or root file, and the only places it may import from. `npm:` names are packages. */
export type ImportTable = Readonly<Record<string, readonly string[]>>

/** The part of the rows that is compared with imports. */
export const mayImport = (layers: Readonly<Record<string, Layer>>): ImportTable =>
  Object.fromEntries(Object.entries(layers).map(([name, row]) => [name, row.mayImport]))

/** The import table inside the domain: each room, and the unions over all rooms. */
export const roomTable = (rooms: readonly Room[], unions: readonly string[]): ImportTable => {
  const inDomain = (name: string): string => `domain/${name}`
  const sums = unions.map(inDomain)
  const all = [...rooms.map(({ name }) => inDomain(name)), ...sums]
  return Object.fromEntries([
    ...rooms.map(({ name, mayImport: lower }) => [
      inDomain(name),
      [...[name, ...lower].map(inDomain), ...(lower.length === 0 ? [] : sums)],
    ]),
    ...sums.map((sum) => [sum, all]),
  ])
}

const CHANGE_OF_A_THING =
  /\bchanges: \[|type: '(?:(?:add|move)_(?:conversation|session|handoff|monitor|turn|message|snapshot)|set_(?:closed|budget|metadata)|keep_extract)'/

/** The files of the domain that write changes by hand. Only an aggregate does, and the union that declares them. */
export const handWrittenChanges = (sources: readonly SourceFile[]): readonly string[] =>
  sources
    .filter(({ path }) => path.startsWith('domain/') && path !== 'domain/decision.ts')
    .filter(({ path, text }) => !path.endsWith('-aggregate.ts') && CHANGE_OF_A_THING.test(text))
    .map(({ path }) => path)

/** The fields of classes that anybody may write to, each as `file: field`. State belongs to the object whose job it is. */
export const openFields = (files: readonly SourceFile[]): readonly string[] =>
  files.flatMap(({ path, text }) =>
    [...nodesOf(parse(text))].filter(isOpenField).map(({ key }) => `${path}: ${key.name}`),
  )

const isOpenField = (node: Node): node is Node & { readonly key: { readonly name: string } } =>
  node.type === 'PropertyDefinition' &&
  'key' in node &&
  (node.key as Node).type === 'Identifier' &&
  'readonly' in node &&
  node.readonly !== true

/** The rooms that lean on one which does not stand before them, each as `room -> room`. */
export const upwardRooms = (rooms: readonly Room[]): readonly string[] =>
  rooms.flatMap(({ name, mayImport: lower }, index) => {
    const before = rooms.slice(0, index).map((other) => other.name)
    return lower.filter((other) => !before.includes(other)).map((other) => `${name} -> ${other}`)
  })

/** The imports a table does not allow, each as `file -> import`. A file of no layer may import nothing, or be at all. */
export const forbiddenImports = (files: readonly SourceFile[], table: ImportTable): readonly string[] =>
  files.flatMap((file) => {
    const layer = layerOf(file.path, table)
    if (layer === undefined) return [`${file.path} belongs to no layer`]
    return importsOf(file)
      .filter(({ specifier }) => !isAllowed(layer, placeOf(file.path, specifier, table), table))
      .map(({ specifier }) => `${file.path} -> ${specifier}`)
  })

const isAllowed = (layer: string, place: string, table: ImportTable): boolean =>
  place === layer ||
  table[layer]?.includes(place) === true ||
  (table[layer]?.includes(ANY_ADAPTER) === true && place.startsWith('adapters/') && place !== 'adapters/cli')

const layerOf = (path: string, table: ImportTable): string | undefined =>
  Object.keys(table)
    .filter((layer) => path === layer || path.startsWith(`${layer}/`))
    .sort((a, b) => b.length - a.length)[0]

const placeOf = (from: string, specifier: string, table: ImportTable): string => {
  const path = resolveImport(from, specifier)
  return path === undefined ? `npm:${specifier}` : (layerOf(path, table) ?? path)
}

/** The packages that the table allows and no file takes, each as `layer: package`. */
export const unusedAllowances = (files: readonly SourceFile[], table: ImportTable): readonly string[] => {
  const taken = new Set(
    files.flatMap((file) =>
      importsOf(file).map(({ specifier }) => `${layerOf(file.path, table)}: ${placeOf(file.path, specifier, table)}`),
    ),
  )
  return Object.entries(table).flatMap(([layer, allowed]) =>
    allowed.map((name) => `${layer}: ${name}`).filter((row) => row.includes(': npm:') && !taken.has(row)),
  )
}

/** The folder of a file, if it holds no other folders: files beside folders are what those folders have in common. */
const roomOf = (path: string, folders: ReadonlySet<string>): string | undefined => {
  const folder = dirname(path)
  return [...folders].some((other) => other.startsWith(`${folder}/`)) ? undefined : folder
}

/**
 * The folders of one layer that import each other in a circle, each circle as `a <-> b <-> c`, in alphabetical order.
 * Imports of types count: a reader follows them as well.
 */
export const folderCircles = (files: readonly SourceFile[]): readonly string[] => {
  const folders = new Set(files.map(({ path }) => dirname(path)))
  const reach = new Map<string, Set<string>>()
  for (const file of files) {
    const from = roomOf(file.path, folders)
    if (from === undefined) continue
    const next = reach.get(from) ?? new Set<string>()
    reach.set(from, next)
    for (const { specifier } of importsOf(file)) {
      const to = roomOf(resolveImport(file.path, specifier) ?? '', folders)
      if (to !== undefined && to !== from && isSameLayer(from, to)) next.add(to)
    }
  }
  const reached = (from: string, seen = new Set<string>()): ReadonlySet<string> => {
    for (const to of reach.get(from) ?? []) {
      if (seen.has(to)) continue
      seen.add(to)
      reached(to, seen)
    }
    return seen
  }
  const all = new Map([...reach.keys()].map((folder) => [folder, reached(folder)]))
  const circles = [...all.keys()].flatMap((folder) => {
    const circle = [...all.keys()].filter((other) => all.get(folder)?.has(other) && all.get(other)?.has(folder))
    return circle.length > 1 ? [circle.sort().join(' <-> ')] : []
  })
  return [...new Set(circles)].sort()
}

const isSameLayer = (one: string, other: string): boolean => one.split('/')[0] === other.split('/')[0]

/** The folders that hold more files than a reader takes in, each with their number. */
export const fullFolders = (files: readonly SourceFile[], most: number): readonly string[] => {
  const counts = new Map<string, number>()
  for (const { path } of files) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1)
  return [...counts].filter(([, count]) => count > most).map(([folder, count]) => `${folder} has ${count} files`)
}

/** The files of `src` behind package.json's `exports` and `bin`. */
export const entryPoints = ({ exports = {}, bin = {} }: Manifest): readonly string[] =>
  [...Object.values(exports), ...Object.values(bin)]
    .filter((path) => path.startsWith('./dist/'))
    .map((path) => path.replace('./dist/', '').replace(/\.js$/, '.ts'))

/** What is read of package.json. */
export interface Manifest {
  readonly name?: string
  readonly exports?: Readonly<Record<string, string>>
  readonly bin?: Readonly<Record<string, string>>
}

/** The modules no entry point leads to: only tests, or nobody, would use them. */
export const unusedModules = (files: readonly SourceFile[], entries: readonly string[]): readonly string[] => {
  const reached = new Set<string>()
  const visit = (path: string): void => {
    const file = files.find((candidate) => candidate.path === path)
    if (file === undefined || reached.has(path)) return
    reached.add(path)
    for (const { specifier } of importsOf(file)) visit(resolveImport(path, specifier) ?? '')
  }
  entries.forEach(visit)
  return files.map(({ path }) => path).filter((path) => !reached.has(path))
}

/** The exported names that no other file of the library takes, entry points aside, each as `file: name`. */
export const unusedExports = (files: readonly SourceFile[], entries: readonly string[]): readonly string[] => {
  const taken = new Set(files.flatMap(namesTakenBy))
  const isTaken = (path: string, name: string): boolean => taken.has(`${path}: ${name}`) || taken.has(`${path}: *`)
  return files
    .filter(({ path }) => !entries.includes(path))
    .flatMap((file) =>
      exportsOf(file)
        .filter((exported) => !isTaken(file.path, exported.name) && !isTypeOfOwnFile(file, exported))
        .map(({ name }) => `${file.path}: ${name}`),
    )
}

const namesTakenBy = (file: SourceFile): readonly string[] =>
  importsOf(file).flatMap(({ specifier, names = ['*'] }) =>
    names.map((name) => `${resolveImport(file.path, specifier) ?? specifier}: ${name}`),
  )

/** A type that its own file uses elsewhere is part of another export's signature, and callers may want to name it. */
const isTypeOfOwnFile = ({ text }: SourceFile, { name, isType, start, end }: Export): boolean =>
  isType && identifiersOf(parse(text.slice(0, start) + text.slice(end))).includes(name)

/**
 * The exported names that more than one file declares, each as `name: file file`. Fine are the twins of the two stores, a
 * command beside the decision that it asks for, and a function of an adapter that `main` publishes with its parts filled in.
 */
export const sharedNames = (files: readonly SourceFile[]): readonly string[] => {
  const places = new Map<string, string[]>()
  for (const file of files)
    for (const name of new Set(namesDeclaredBy(file))) places.set(name, [...(places.get(name) ?? []), file.path])
  return [...places]
    .filter(([, paths]) => paths.length > 1 && !TWINS.some((twins) => isPairOf(twins, paths)))
    .map(([name, paths]) => `${name}: ${paths.toSorted().join(' ')}`)
    .sort()
}

/** Two folders, in each of which one file may declare a name. */
const TWINS: readonly (readonly [string, string])[] = [
  ['adapters/memory/', 'adapters/postgres/'],
  ['domain/', 'services/commands/'],
  ['adapters/', 'main/'],
]

const isPairOf = (twins: readonly [string, string], paths: readonly string[]): boolean =>
  paths.length === 2 && twins.every((folder) => paths.filter((path) => path.startsWith(folder)).length === 1)

/** The names that a file declares itself: one that it passes on is still the name of the same thing. */
const namesDeclaredBy = (file: SourceFile): readonly string[] => {
  const taken = new Set(importsOf(file).flatMap(({ names = [] }) => names))
  return exportsOf(file).flatMap(({ name, from }) => (from === undefined && !taken.has(name) ? [name] : []))
}
