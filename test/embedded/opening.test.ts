import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPglite } from '../../src/adapters/postgres/embedded/open-pglite.ts'
import { StoreFailure } from '../../src/ports/store/store-failure.ts'
import { dump, makeStore } from './made-store.ts'
import { contentsOf, temporaryFolder } from './temporary-folder.ts'

/** One store is made and copied, which is much faster than making one per test. */
const made = mkdtempSync(join(tmpdir(), 'batonpass-made-'))

beforeAll(() => makeStore(made))
afterAll(() => rmSync(made, { recursive: true, force: true, maxRetries: 10 }))

const copied = (): string => {
  const folder = temporaryFolder()
  cpSync(made, folder, { recursive: true })
  return folder
}

const failureOf = async (dataDir: string, loadDataDir?: Blob): Promise<StoreFailure> => {
  try {
    const store = await openPglite({ dataDir, ...(loadDataDir && { loadDataDir }) })
    await store[Symbol.asyncDispose]()
  } catch (error) {
    if (error instanceof StoreFailure) return error
    throw error
  }
  throw new Error('It opened')
}

describe('a store that does not open', () => {
  it.each([
    ['its control file is garbage', (data: string) => writeFileSync(join(data, 'global', 'pg_control'), 'garbage')],
    ['its control file is gone', (data: string) => rmSync(join(data, 'global', 'pg_control'))],
    ['its log is gone', (data: string) => rmSync(join(data, 'pg_wal'), { recursive: true })],
    ['its tables are gone', (data: string) => rmSync(join(data, 'base'), { recursive: true })],
    ['another version made it', (data: string) => writeFileSync(join(data, 'PG_VERSION'), '12\n')],
  ])('because %s is not said to be lost, and lets go of the lock', async (_, damage) => {
    const folder = copied()
    damage(join(folder, 'data'))
    const failure = await failureOf(folder)
    expect(failure).toMatchObject({ code: 'store.failed', retryable: false })
    expect(failure.message).toContain(`The database in ${join(folder, 'data')} does not open`)
    expect(failure.message).toContain('copy the folder before anything else')
    expect(failure.message).not.toMatch(/in its place|replace|\[object/)
    expect(failure.cause).toBeInstanceOf(Error)
    expect(contentsOf(folder)).toEqual(['data'])
  })

  it('because a newer program wrote it says so, and lets go of the lock', async () => {
    const folder = copied()
    const pglite = await PGlite.create(join(folder, 'data'))
    await pglite.exec(`insert into batonpass.migrations (name, applied_at) values ('9999_later', now())`)
    await pglite.close()
    for (const time of ['once', 'twice']) {
      expect((await failureOf(folder)).code, time).toBe('store.newer_schema')
      expect(existsSync(join(folder, 'lock'))).toBe(false)
    }
  })

  it('because its folder cannot be made says which', async () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'file'), '')
    const failure = await failureOf(join(folder, 'file', 'store'))
    expect(failure.code).toBe('store.failed')
    expect(failure.message).toContain(
      `The folder ${join(folder, 'file', 'store')} for the embedded store cannot be made`,
    )
    expect(failure.cause).toMatchObject({ code: 'ENOTDIR' })
    expect(await failureOf(' ')).toMatchObject({ code: 'store.bad_address' })
  })

  // Root may write everywhere, so as root there is no such thing as a read-only folder.
  it.skipIf(process.getuid?.() === 0)('because its folder is read-only says so (not testable as root)', async () => {
    const folder = temporaryFolder()
    chmodSync(folder, 0o555)
    const failure = await failureOf(folder)
    chmodSync(folder, 0o755)
    expect(failure.message).toContain(`The folder ${folder} of the embedded store cannot be written`)
    expect(failure.cause).toMatchObject({ code: 'EACCES' })
  })

  it('because the folder is used for something else leaves that alone', async () => {
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'data'))
    writeFileSync(join(folder, 'data', 'notes.txt'), 'mine')
    expect((await failureOf(folder)).message).toContain('no database')
    expect(readdirSync(join(folder, 'data'))).toEqual(['notes.txt'])
    const inside = await failureOf(join(copied(), 'data'))
    expect(inside.message).toContain('is itself a PGlite database')
  })

  it('because a dump was to be loaded over one that is there keeps what is there', async () => {
    const folder = copied()
    expect((await failureOf(folder, new Blob(['?']))).message).toContain('already')
    expect(contentsOf(folder)).toEqual(['data'])
  })

  it('because its dump is none leaves nothing that a later opening would stumble over', async () => {
    const folder = temporaryFolder()
    const failure = await failureOf(folder, new Blob(['no dump']))
    expect(failure.message).toContain(`The embedded store in ${folder} cannot be made`)
    expect(readdirSync(folder)).not.toContain('data')
    expect(readdirSync(folder)).not.toContain('lock')
  })
})

describe('a store that was being made when its process was killed', () => {
  it('is made anew', async () => {
    const folder = temporaryFolder()
    cpSync(join(made, 'data', 'PG_VERSION'), join(folder, 'data.new', 'PG_VERSION'))
    const store = await openPglite({ dataDir: folder, loadDataDir: dump() })
    expect(contentsOf(folder)).toEqual(['data', 'lock'])
    await store[Symbol.asyncDispose]()
  })
})
