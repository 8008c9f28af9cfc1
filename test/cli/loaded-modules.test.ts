import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Node, nodesOf, parse } from '../support/source-file.ts'

/** An import or export, as far as it matters here. */
interface Declaration extends Node {
  readonly source?: { readonly value: string } | null
  readonly importKind?: string
  readonly exportKind?: string
}

/** A module that is mentioned where it is loaded at once: not `import type`, and not `import()`. */
const loadedBy = (path: string): readonly string[] =>
  [...nodesOf(parse(readFileSync(path, 'utf8')))].flatMap((node) => {
    if (!/^(Import|ExportNamed|ExportAll)Declaration$/.test(node.type)) return []
    const { source, importKind, exportKind } = node as Declaration
    return source == null || importKind === 'type' || exportKind === 'type' ? [] : [source.value]
  })

/** Every file and package that is loaded before a command is known. */
const loadedFrom = (entry: string): ReadonlySet<string> => {
  const loaded = new Set<string>()
  const load = (path: string): void => {
    if (loaded.has(path)) return
    loaded.add(path)
    for (const specifier of loadedBy(path))
      if (specifier.startsWith('.')) load(relative('.', join(dirname(path), specifier)))
      else loaded.add(specifier)
  }
  load(entry)
  return loaded
}

/** The records of agents, from which help and completion have their lists, and what the records are made of. */
const RECORDS: readonly string[] = [
  'src/adapters/claude/settings/compaction-point.ts',
  'src/adapters/claude/vendor.ts',
  'src/adapters/codex/vendor.ts',
  'src/main/runtimes.ts',
  'src/ports/agent/runtime-failure.ts',
]

describe('before it knows its command, baton', () => {
  const loaded = [...loadedFrom('src/adapters/cli/start.ts')]

  it('loads no other file to say its version', () => {
    expect([...loadedFrom('src/adapters/cli/main.ts')]).toEqual(['src/adapters/cli/main.ts', 'node:fs'])
  })

  it('loads no package but the parser of command lines', () => {
    const packages = loaded.filter((name) => !name.startsWith('src/') && !name.startsWith('node:'))
    expect(packages).toEqual(['commander'])
  })

  it('loads no store, no service, no container and no command: beside its own tree the records of agents alone', () => {
    const others = loaded.filter((name) =>
      /^src\/(?!domain\/|adapters\/cli\/)|^src\/adapters\/cli\/commands\//.test(name),
    )
    expect(others.sort()).toEqual(RECORDS)
  })

  it('loads few files', () => {
    console.log(`${loaded.length} modules before a command is known`)
    expect(loaded.length).toBeLessThanOrEqual(38)
  })
})
