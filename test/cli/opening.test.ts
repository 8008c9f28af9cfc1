import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Node, nodesOf, parse } from '../support/source-file.ts'

/** An import, as far as it matters here. */
interface Declaration extends Node {
  readonly source?: { readonly value: string } | null
  readonly importKind?: string
  readonly exportKind?: string
  readonly specifiers?: readonly { readonly importKind?: string; readonly imported?: { readonly name: string } }[]
}

const importsOf = (path: string): readonly Declaration[] =>
  [...nodesOf(parse(readFileSync(path, 'utf8')))].flatMap((node) => {
    if (!/^(Import|ExportNamed|ExportAll)Declaration$/.test(node.type)) return []
    const found = node as Declaration
    return found.source == null || found.importKind === 'type' || found.exportKind === 'type' ? [] : [found]
  })

/** The names that a file takes from others as values. */
const valuesIn = (path: string): readonly string[] =>
  importsOf(path).flatMap(({ specifiers = [] }) =>
    specifiers.flatMap(({ importKind, imported }) => (importKind === 'type' || !imported ? [] : [imported.name])),
  )

/** Every file that a file loads at once, and those that these load. */
const loadedFrom = (path: string, loaded = new Set<string>()): ReadonlySet<string> => {
  if (loaded.has(path)) return loaded
  loaded.add(path)
  for (const { source } of importsOf(path))
    if (source?.value.startsWith('.')) loadedFrom(relative('.', join(dirname(path), source.value)), loaded)
  return loaded
}

const CLI = 'src/adapters/cli'
const FILES = readdirSync(CLI, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => join(CLI, name))

/** Everything that opens a store of its own, or the library on one. */
const OPENERS = ['openStore', 'openMigrator', 'createBatonpass', 'openPglite', 'openPostgres', 'compose']

describe('a store is opened in one place', () => {
  it('but for the memory that a command about files alone works in', () => {
    const opening = FILES.filter((path) => valuesIn(path).some((name) => OPENERS.includes(name)))
    expect(opening.sort()).toEqual([`${CLI}/choose/opened-store.ts`, `${CLI}/commands/thread-blocks.ts`])
    expect(readFileSync(`${CLI}/commands/thread-blocks.ts`, 'utf8').match(/createBatonpass\(.*/g)).toEqual([
      expect.stringMatching(/^createBatonpass\(\{ store: 'memory'/),
    ])
  })
})

describe('a command that reads', () => {
  it.each(['audit', 'conversations', 'handoffs', 'look-back', 'messages', 'sessions', 'thread-history', 'turns'])(
    'loads neither the runner nor the container: %s',
    (name) => {
      const loaded = [...loadedFrom(`${CLI}/commands/${name}.ts`)]
      expect(loaded).toContain(`${CLI}/choose/opened-store.ts`)
      expect(loaded.filter((path) => /^src\/(services\/run|main\/(container|composition))/.test(path))).toEqual([])
    },
  )
})
