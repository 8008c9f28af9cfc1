import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openPglite } from '../../src/adapters/postgres/embedded/open-pglite.ts'
import { openPostgres } from '../../src/adapters/postgres/open/open-postgres.ts'
import { createBatonpass } from '../../src/main/batonpass.ts'

import { openMigrator } from '../../src/main/open-store.ts'
import { makeStore } from './made-store.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** Options as plain JavaScript gives them, where a variable that is not set is `undefined`. */
const loose = (options: object): never => options as never

const NOTHING = [
  ['is not set', undefined],
  ['is null', null],
  ['is empty', ''],
  ['is blank', ' \t\n'],
  ['is no text', 5432],
] as const

const inEmptyFolder = async (work: () => Promise<unknown>): Promise<unknown> => {
  const [folder, before] = [temporaryFolder(), process.cwd()]
  process.chdir(folder)
  try {
    return await work().then(
      () => 'It opened',
      (failure: unknown) => failure,
    )
  } finally {
    process.chdir(before)
    expect(readdirSync(folder)).toEqual([])
  }
}

describe.each(NOTHING)('an address that %s', (_, nothing) => {
  it.each([
    ['createBatonpass', 'database', () => createBatonpass(loose({ database: nothing }))],
    ['createBatonpass', 'database', () => createBatonpass(loose({ database: nothing, dataDir: 'folder' }))],
    ['createBatonpass', 'dataDir', () => createBatonpass(loose({ dataDir: nothing }))],
    ['openMigrator', 'database', async () => openMigrator(loose({ database: nothing }))],
    ['openMigrator', 'dataDir', async () => openMigrator(loose({ dataDir: nothing }))],
    ['openPostgres', 'connectionString', () => openPostgres(loose({ connectionString: nothing }))],
    ['openPglite', 'dataDir', () => openPglite(loose({ dataDir: nothing }))],
  ] as const)('is refused by %s as %s, and no store is made', async (_who, key, open) => {
    const failure = await inEmptyFolder(open)
    expect(failure).toMatchObject({ name: 'StoreFailure', code: 'store.bad_address', retryable: false })
    expect((failure as Error).message).toContain(`"${key}"`)
    expect((failure as Error).message).toMatch(/variable/)
  })

  it('is refused beside a store too: the two would contradict each other', async () => {
    const failure = await inEmptyFolder(() => createBatonpass(loose({ store: 'memory', database: nothing })))
    expect(failure).toMatchObject({ name: 'StoreFailure', code: 'store.bad_address' })
  })
})

describe.each([
  ['a word', 'agents'],
  ['a host without a scheme', 'db.example/agents'],
  ['a host and a port without a scheme', 'localhost:5432/agents'],
  ['keywords', 'host=db.example dbname=agents password=hunter2'],
  ['another database’s address', 'mysql://ada:hunter2@db.example/agents'],
  ['a page', 'https://ada:hunter2@db.example/agents'],
  ['a placeholder', '<postgres://ada:hunter2@db.example/agents>'],
  ['a password that was not encoded', 'postgres://ada:hunter2/#?@db.example/agents'],
])('an address that is %s', (_, database) => {
  it('is refused as what it is, without a try and without its secrets', async () => {
    for (const open of [
      () => createBatonpass({ database }),
      () => openPostgres({ connectionString: database }),
      async () => openMigrator({ database }),
    ]) {
      const failure = await inEmptyFolder(open)
      expect(failure).toMatchObject({ name: 'StoreFailure', code: 'store.bad_address', retryable: false })
      expect((failure as Error).message).toContain('postgres://user@host/database')
      expect(JSON.stringify([failure, (failure as Error).message, (failure as Error).cause])).not.toContain('hunter2')
    }
  })
})

it.each([
  'postgres://127.0.0.1:1/none',
  'postgresql://ada:p%23@127.0.0.1:1/none?sslmode=disable',
  'postgres:///none?host=127.0.0.1&port=1',
  'postgres://ada@/none?host=127.0.0.1&port=1',
  'socket:/nowhere?db=none',
  '/nowhere none',
])('%s is an address, though nobody answers there', async (connectionString) => {
  const failure = await openPostgres({ connectionString, connectTimeoutMs: 2_000 }).catch((problem: unknown) => problem)
  expect(failure).toMatchObject({ code: 'store.unavailable' })
})

describe('a store that must exist', () => {
  it.each([
    ['no folder', () => {}],
    ['an empty folder', (dataDir: string) => mkdirSync(dataDir)],
    [
      'a folder in which one was being made',
      (dataDir: string) => mkdirSync(join(dataDir, 'data.new'), { recursive: true }),
    ],
    ['a folder whose database is empty', (dataDir: string) => mkdirSync(join(dataDir, 'data'), { recursive: true })],
  ])('is missing where there is %s, and nothing is left there', async (_, prepare) => {
    const dataDir = join(temporaryFolder(), 'store')
    prepare(dataDir)
    const before = existsSync(dataDir) ? readdirSync(dataDir) : undefined
    for (const open of [
      () => createBatonpass({ dataDir, mustExist: true }),
      () => openPglite({ dataDir, mustExist: true }),
    ]) {
      const failure = await open().catch((problem: unknown) => problem)
      expect(failure).toMatchObject({ code: 'store.missing', retryable: false })
      expect((failure as Error).message).toContain(`There is no embedded store in ${dataDir}`)
    }
    expect(existsSync(dataDir) ? readdirSync(dataDir) : undefined).toEqual(before)
  })

  it('is opened where there is one', async () => {
    const dataDir = join(temporaryFolder(), 'store')
    await makeStore(dataDir)
    const batonpass = await createBatonpass({ dataDir, mustExist: true })
    expect((await batonpass.history.listConversations()).items).toEqual([])
    await batonpass.close()
  })

  it('cannot be one in memory', async () => {
    await expect(openPglite({ mustExist: true })).rejects.toMatchObject({ code: 'store.missing' })
  })
})
