import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openPglite } from '../../src/adapters/postgres/embedded/open-pglite.ts'
import { openPostgres, type PostgresOptions } from '../../src/adapters/postgres/open/open-postgres.ts'
import { MemoryStore } from '../../src/entry/memory.ts'
import type { Store } from '../../src/entry/ports.ts'
import { FixedClock, type StoreUnderTest } from '../../src/entry/testing.ts'
import { IS_FULL } from './amounts.ts'
import { cloneDatabase, withDatabase } from './test-databases.ts'

const POOLER = process.env.TEST_POOLER_URL

/** Every store the whole suite runs on. Without PgBouncer nothing runs behind a pooler, and the test run says so. */
export const STORE_KINDS = [
  'memory',
  'pglite',
  'postgres',
  ...(POOLER === undefined ? [] : (['pooled'] as const)),
] as const

/** The stores for what no store decides, but the commands and the runner above it: one in memory, and one server. */
export const RULE_STORES: readonly (typeof STORE_KINDS)[number][] = IS_FULL ? STORE_KINDS : ['memory', 'postgres']

/** Which store a test runs on. */
export type StoreKind = 'memory' | 'pglite' | 'postgres' | 'pooled' | 'shared'

/** A server's clock cannot be moved, only waited for. */
const waitFor = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds))

const OPEN: Readonly<Record<Exclude<StoreKind, 'memory'>, () => Promise<Store>>> = {
  pglite: () => openPglite({ loadDataDir: new Blob([readFileSync(fromEnvironment('TEST_PGLITE_DUMP'))]) }),
  postgres: async () => onClone(fromEnvironment('TEST_DATABASE_URL')),
  pooled: async () => onClone(POOLER ?? '', { pooled: true }),
  shared: () => throughTheDoor(),
}

/** The stores and folders that others were opened through. */
const beneath: (() => Promise<void>)[] = []

/** A store in a folder that another has open, and serves. */
const throughTheDoor = async (): Promise<Store> => {
  const folder = mkdtempSync(join(tmpdir(), 'batonpass-shared-'))
  const loadDataDir = new Blob([readFileSync(fromEnvironment('TEST_PGLITE_DUMP'))])
  const holder = await openPglite({ dataDir: folder, loadDataDir })
  beneath.push(async () => {
    await holder[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  })
  return openPglite({ dataDir: folder })
}

const onClone = async (url: string, options: PostgresOptions = {}): Promise<Store> =>
  openPostgres({ ...options, connectionString: withDatabase(url, await cloneDatabase()) })

const fromEnvironment = (name: string): string => {
  const value = process.env[name]
  if (value === undefined) throw new Error(`${name} is not set: run through "npm test" or "npx vitest"`)
  return value
}

/** One database per test file and kind: opened once, shared by the tests of the file. */
const opened = new Map<StoreKind, Promise<Store>>()

/** Opens a store. It may already hold what other tests left there. */
export const openStore = async (kind: StoreKind): Promise<StoreUnderTest> => {
  if (kind === 'memory') {
    const clock = new FixedClock()
    return { store: new MemoryStore({ clock }), passTime: async (milliseconds) => clock.advance(milliseconds) }
  }
  const store = opened.get(kind) ?? OPEN[kind]()
  opened.set(kind, store)
  return { store: await store, passTime: waitFor }
}

/** Closes what was opened in this process. */
export const closeStores = async (): Promise<void> => {
  for (const store of opened.values()) await (await store)[Symbol.asyncDispose]()
  opened.clear()
  for (const close of beneath.splice(0)) await close()
}
