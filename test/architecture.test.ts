import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  entryPoints,
  folderCircles,
  forbiddenImports,
  fullFolders,
  handWrittenChanges,
  type Manifest,
  mayImport,
  openFields,
  roomTable,
  sharedNames,
  unusedAllowances,
  unusedExports,
  unusedModules,
  upwardRooms,
} from './support/architecture.ts'
import { LAYERS, ROOMS, UNIONS } from './support/import-table.ts'
import { readSources, type SourceFile } from './support/source-file.ts'

const MAY_IMPORT = mayImport(LAYERS)

/** More than these are hard to take in. */
const MOST_FILES = 30

const LAYER_FOLDERS = ['adapters', 'domain', 'entry', 'main', 'ports', 'processes', 'services', 'testing']

/** Lists of all there is, which tests walk and a schema's CHECKs are compared with; the library itself needs no list. */
const CLOSED_LISTS: readonly string[] = [
  'domain/handoff/handoff.ts: TERMINAL_HANDOFF_STATUSES',
  'domain/session/agent-session.ts: TERMINAL_SESSION_STATES',
]

/** What a reader takes, as types; `test/agents` holds them against the types of the runtime's own package. */
const READ_SHAPES: readonly string[] = ['adapters/claude/readers/claude-result.ts: ClaudeResultShape']

/** Parts that a test asks directly, because their whole cannot be brought to it: a full disk, a clock that was set, an old payload. */
const PARTS: readonly string[] = [
  'adapters/hooks/chat-message.ts: chatText',
  'adapters/hooks/payload-file.ts: sweepPayloads',
  'adapters/postgres/embedded/shared-folder.ts: servedAt',
  'adapters/postgres/health/folder-checks.ts: spaceFinding',
  'adapters/postgres/health/schema-drift.ts: schemaLines',
  'adapters/postgres/health/server-checks.ts: clockFinding',
  'adapters/system/system-clock.ts: steadyClock',
]

/** Schemas from which `scripts/configuration-schema.ts` makes the one for editors. */
const SCHEMAS: readonly string[] = ['adapters/config/schema.ts: fileSchema', 'adapters/config/values.ts: FORMS']

const SOURCES = readSources('src')
const ENTRIES = entryPoints(JSON.parse(readFileSync('package.json', 'utf8')) as Manifest)

const file = (path: string, text: string): SourceFile => ({ path, text })

describe('the import table', () => {
  it('covers every file and allows every import', () => {
    expect(SOURCES.length).toBeGreaterThan(50)
    expect(forbiddenImports(SOURCES, MAY_IMPORT)).toEqual([])
  })

  it('lets the container alone know its packages', () => {
    const knowing = (name: string) => Object.keys(MAY_IMPORT).filter((layer) => MAY_IMPORT[layer]?.includes(name))
    expect(knowing('npm:tsyringe')).toEqual(['main/container.ts'])
    expect(knowing('npm:reflect-metadata')).toEqual(['main/container.ts'])
  })

  it('allows no package that a folder does not use', () => {
    expect(unusedAllowances(SOURCES, MAY_IMPORT)).toEqual([])
    const table = { domain: ['npm:uuid', 'npm:zod', 'ports'] }
    expect(unusedAllowances([file('domain/id.ts', "import { v7 } from 'uuid'")], table)).toEqual(['domain: npm:zod'])
  })

  it.each([
    ["import { v7 } from 'uuid'", 'uuid'],
    ["import type { Store } from '../ports/store.ts'", '../ports/store.ts'],
    ["import { type Store } from '../ports/store.ts'", '../ports/store.ts'],
    ["export { Store } from '../ports/store.ts'", '../ports/store.ts'],
    ["export type { Store } from '../ports/store.ts'", '../ports/store.ts'],
    ["export * from '../services/requests.ts'", '../services/requests.ts'],
    ["export * as requests from '../services/requests.ts'", '../services/requests.ts'],
    ["import 'reflect-metadata'", 'reflect-metadata'],
    ["const later = async () => import('node:fs')", 'node:fs'],
    ["type Store = import('../ports/store.ts').Store", '../ports/store.ts'],
    ["import {\n  a,\n  b,\n} from '../container.ts'", '../container.ts'],
    ["import { x } from '../../test/support/stores.ts'", '../../test/support/stores.ts'],
  ])('sees %s', (text, specifier) => {
    expect(forbiddenImports([file('domain/tool-call.ts', text)], MAY_IMPORT)).toEqual([
      `domain/tool-call.ts -> ${specifier}`,
    ])
  })

  it('sees one adapter that leans on another, and a container that leaks', () => {
    const leaning = file('adapters/memory/tables.ts', "import { systemClock } from '../system/system-clock.ts'")
    const leaking = file('services/handoff-service.ts', "import { injectable } from 'tsyringe'")
    expect(forbiddenImports([leaning, leaking], MAY_IMPORT)).toEqual([
      'adapters/memory/tables.ts -> ../system/system-clock.ts',
      'services/handoff-service.ts -> tsyringe',
    ])
  })

  it('sees a file that belongs to no layer', () => {
    expect(forbiddenImports([file('helpers/misc.ts', '')], MAY_IMPORT)).toEqual(['helpers/misc.ts belongs to no layer'])
  })

  it('is not fooled by imports in comments and strings', () => {
    const innocent = file(
      'domain/ids.ts',
      "/** import 'uuid' */\nconst text = \"import 'uuid'\"\nexport const a = text",
    )
    expect(forbiddenImports([innocent], MAY_IMPORT)).toEqual([])
  })
})

describe('the rooms of the domain', () => {
  const inDomain = SOURCES.filter(({ path }) => path.startsWith('domain/'))
  const table = roomTable(ROOMS, UNIONS)

  it('import only rooms below them', () => {
    expect(upwardRooms(ROOMS)).toEqual([])
    expect(forbiddenImports(inDomain, table)).toEqual([])
  })

  it('hold everything but the unions over all of them', () => {
    const loose = inDomain.filter(({ path }) => path.split('/').length === 2).map(({ path }) => path)
    expect(loose).toEqual(UNIONS.map((name) => `domain/${name}`))
  })

  it('are seen when one leans on a room above it, or the kernel on a union', () => {
    const leaning = file('domain/session/progress.ts', "import type { HandoffMetadata } from '../handoff/handoff.ts'")
    const kernel = file('domain/kernel/result.ts', "import type { Refusal } from '../refusal.ts'")
    expect(forbiddenImports([leaning, kernel], table)).toEqual([
      'domain/session/progress.ts -> ../handoff/handoff.ts',
      'domain/kernel/result.ts -> ../refusal.ts',
    ])
    expect(upwardRooms([...ROOMS].reverse())).toContain('session -> kernel')
  })
})

describe('changes', () => {
  it('are derived from events: no decision writes them by hand', () => {
    expect(handWrittenChanges(SOURCES)).toEqual([])
  })

  it('are seen where a decision does, be it a list or a single one', () => {
    const list = file('domain/session/pause.ts', 'export const pause = () => ({ changes: [], events: [] })')
    const single = file('domain/handoff/cancel.ts', "draft.effect({ type: 'move_handoff', handoff, expected })")
    const aggregate = file('domain/handoff/handoff-aggregate.ts', "[{ type: 'move_handoff', handoff, expected }]")
    const lease = file('domain/session/lease.ts', "draft.effect({ type: 'drop_lease', session })")
    expect(handWrittenChanges([list, single, aggregate, lease])).toEqual([list.path, single.path])
  })
})

describe('the fields of the runner', () => {
  it('are private or never change', () => {
    expect(openFields(SOURCES.filter(({ path }) => path.startsWith('services/run/')))).toEqual([])
  })

  it('are seen where anybody may write to one', () => {
    const bag =
      'export class Run { readonly id = 1; turns = 0; model: string | undefined; #own = 0; get one() { return 1 } }'
    expect(openFields([file('services/run/run.ts', bag)])).toEqual([
      'services/run/run.ts: turns',
      'services/run/run.ts: model',
    ])
  })
})

describe('folders', () => {
  it('of one layer import each other in no circle; those of the runner still do', () => {
    const ofRunner = ({ path }: SourceFile) => path.startsWith('services/run/')
    expect(folderCircles(SOURCES.filter((source) => !ofRunner(source)))).toEqual([])
    expect(folderCircles(SOURCES.filter(ofRunner))).toHaveLength(1)
  })

  it('are seen when they do, over two corners, and by a type alone', () => {
    const files = [
      file('services/audit/a.ts', "import type { B } from '../window/b.ts'"),
      file('services/window/b.ts', "import { c } from '../history/c.ts'"),
      file('services/history/c.ts', "export { a } from '../audit/a.ts'"),
      file('services/replay/d.ts', "import { a } from '../audit/a.ts'"),
      file('services/service.ts', "import { d } from './replay/d.ts'"),
    ]
    expect(folderCircles(files)).toEqual(['services/audit <-> services/history <-> services/window'])
    expect(folderCircles(files.slice(0, 2))).toEqual([])
  })

  it(`hold at most ${MOST_FILES} files`, () => {
    expect(fullFolders(SOURCES, MOST_FILES)).toEqual([])
    const many = Array.from({ length: MOST_FILES + 1 }, (_, n) => file(`domain/all/${n}.ts`, ''))
    expect(fullFolders(many, MOST_FILES)).toEqual([`domain/all has ${MOST_FILES + 1} files`])
  })

  it('hold nothing loose: src has layers alone, and services the one service', () => {
    const loose = (folder: string) =>
      SOURCES.filter(({ path }) => path.startsWith(folder) && !path.slice(folder.length).includes('/'))
    expect(loose('')).toEqual([])
    expect(loose('services/').map(({ path }) => path)).toEqual(['services/handoff-service.ts'])
    expect(loose('ports/')).toEqual([])
    // It opens a schema on either kind of store, so it stands above their rooms.
    expect(loose('adapters/postgres/').map(({ path }) => path)).toEqual(['adapters/postgres/open-migrator.ts'])
    expect([...new Set(SOURCES.map(({ path }) => path.split('/')[0]))].sort()).toEqual(LAYER_FOLDERS)
  })
})

describe('what nobody uses', () => {
  const entry = file('index.ts', "export { used } from './domain/used.ts'")
  const used = file('domain/used.ts', 'export const used = 1')

  it('has entry points that exist', () => {
    expect(ENTRIES).toContain('entry/index.ts')
    expect(ENTRIES.filter((path) => !SOURCES.some((source) => source.path === path))).toEqual([])
  })

  it('is no module of this library', () => {
    expect(unusedModules(SOURCES, ENTRIES)).toEqual([])
  })

  it('is seen when it is a module, even one that others like it import', () => {
    const orphan = file('domain/orphan.ts', "import './validator.ts'")
    const validator = file('domain/validator.ts', "import './orphan.ts'")
    expect(unusedModules([entry, used, orphan, validator], ['index.ts'])).toEqual([
      'domain/orphan.ts',
      'domain/validator.ts',
    ])
  })

  it('is no export of this library, closed lists and shapes aside', () => {
    expect([...unusedExports(SOURCES, ENTRIES)].sort()).toEqual(
      [...READ_SHAPES, ...SCHEMAS, ...CLOSED_LISTS, ...PARTS].sort(),
    )
  })

  it('is seen when it is a value, or a type its own file does not need', () => {
    const text =
      'export const used = 1\nexport const idle = used\nexport type Idle = 1\nexport const self = (): void => self()'
    expect(unusedExports([entry, file('domain/used.ts', text)], ['index.ts'])).toEqual([
      'domain/used.ts: idle',
      'domain/used.ts: Idle',
      'domain/used.ts: self',
    ])
  })

  it('is not a type in a signature, nor a name taken by import() or a namespace', () => {
    const signature = file('domain/used.ts', 'export interface Options {}\nexport const used = (_: Options) => 1')
    const lazy = file('main.ts', "await import('./lazy.ts')\nimport * as all from './all.ts'\nall.two()")
    const others = [file('lazy.ts', 'export const one = 1'), file('all.ts', 'export const two = () => 2')]
    expect(unusedExports([entry, signature, lazy, ...others], ['index.ts', 'main.ts'])).toEqual([])
  })
})

describe('an exported name', () => {
  const declaring = (path: string, name: string) => file(path, `export const ${name} = 1`)

  it('means one thing', () => {
    expect(sharedNames(SOURCES)).toEqual([])
  })

  it('is seen when two files declare it, as a value or a type', () => {
    const type = file('services/run/place.ts', 'export interface quoted {}')
    expect(sharedNames([declaring('domain/text.ts', 'quoted'), type])).toEqual([
      'quoted: domain/text.ts services/run/place.ts',
    ])
    const passedOn = file('adapters/cli/text.ts', "import { cut } from '../../domain/text.ts'\nexport { cut }")
    expect(sharedNames([declaring('domain/text.ts', 'cut'), passedOn])).toEqual([])
  })

  it.each([
    ['of the two stores', ['adapters/memory/jobs.ts', 'adapters/postgres/statements/jobs.ts'], true],
    ['of a command and its decision', ['domain/handoff/cancel.ts', 'services/commands/handoff-commands.ts'], true],
    ['of an adapter and main', ['adapters/install/installation.ts', 'main/installer.ts'], true],
    ['of two files of one store', ['adapters/memory/jobs.ts', 'adapters/memory/table.ts'], false],
    ['of a store and the domain', ['adapters/memory/jobs.ts', 'domain/jobs.ts'], false],
    ['of three', ['adapters/memory/jobs.ts', 'adapters/postgres/jobs.ts', 'ports/jobs.ts'], false],
  ])('may be %s: %s', (_, paths, isFine) => {
    const shared = sharedNames(paths.map((path) => declaring(path, 'jobs')))
    expect(shared).toEqual(isFine ? [] : [`jobs: ${paths.toSorted().join(' ')}`])
  })
})
