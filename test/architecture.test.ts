import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  entryPoints,
  forbiddenImports,
  handWrittenChanges,
  longFiles,
  type Manifest,
  mayImport,
  openFields,
  roomTable,
  unusedExports,
  unusedModules,
  upwardRooms,
} from './support/architecture.ts'
import { LAYERS, ROOMS, UNIONS } from './support/import-table.ts'
import { readSources, type SourceFile } from './support/source-file.ts'

const MAY_IMPORT = mayImport(LAYERS)

const MAX_LINES = 250

/** Lists of all there is, which tests walk and a schema's CHECKs are compared with; the library itself needs no list. */
const CLOSED_LISTS: readonly string[] = [
  'domain/handoff/handoff.ts: TERMINAL_HANDOFF_STATUSES',
  'domain/session/agent-session.ts: TERMINAL_SESSION_STATES',
]

/** What a reader takes, as types; `test/agents` holds them against the types of the runtime's own package. */
const READ_SHAPES: readonly string[] = [
  'adapters/claude/agent-sdk-reader.ts: AgentSdkShapes',
  'adapters/claude/claude-result.ts: ClaudeResultShape',
  'adapters/codex/exec-reader.ts: ExecShapes',
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
    expect(knowing('npm:tsyringe')).toEqual(['container.ts'])
    expect(knowing('npm:reflect-metadata')).toEqual(['container.ts'])
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
    expect(openFields(SOURCES.filter(({ path }) => path.startsWith('services/runner/')))).toEqual([])
  })

  it('are seen where anybody may write to one', () => {
    const bag =
      'export class Run { readonly id = 1; turns = 0; model: string | undefined; #own = 0; get one() { return 1 } }'
    expect(openFields([file('services/runner/run.ts', bag)])).toEqual([
      'services/runner/run.ts: turns',
      'services/runner/run.ts: model',
    ])
  })
})

describe('the length of files', () => {
  it(`stays within ${MAX_LINES} lines`, () => {
    expect(longFiles(SOURCES, MAX_LINES)).toEqual([])
  })

  it('is seen when it does not', () => {
    expect(longFiles([file('domain/god.ts', 'const a = 1\n'.repeat(251))], MAX_LINES)).toEqual([
      'domain/god.ts has 251 lines',
    ])
    expect(longFiles([file('domain/fine.ts', 'const a = 1\n'.repeat(250))], MAX_LINES)).toEqual([])
  })
})

describe('what nobody uses', () => {
  const entry = file('index.ts', "export { used } from './domain/used.ts'")
  const used = file('domain/used.ts', 'export const used = 1')

  it('has entry points that exist', () => {
    expect(ENTRIES).toContain('index.ts')
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
    expect(unusedExports(SOURCES, ENTRIES)).toEqual([...READ_SHAPES, ...SCHEMAS, ...CLOSED_LISTS])
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
