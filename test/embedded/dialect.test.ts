import { PGlite } from '@electric-sql/pglite'
import { Kysely, sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { PgliteDialect } from '../../src/adapters/postgres/embedded/pglite-dialect.ts'

describe('statements through the dialect of the embedded store', { timeout: 0 }, () => {
  let pglite: PGlite
  let database: Kysely<{ notes: { text: string } }>

  beforeEach(async () => {
    pglite = await PGlite.create()
    database = new Kysely({ dialect: new PgliteDialect(pglite) })
    await sql`create table notes (text text not null)`.execute(database)
  }, 0)

  afterEach(() => database.destroy())

  const texts = async () =>
    (await database.selectFrom('notes').select('text').orderBy('text').execute()).map((n) => n.text)
  const write = (into: typeof database, text: string) => into.insertInto('notes').values({ text }).executeTakeFirst()

  it('say how many rows they changed', async () => {
    expect(await write(database, 'one')).toMatchObject({ numInsertedOrUpdatedRows: 1n })
  })

  it('are kept by a transaction that commits, and undone by one that fails', async () => {
    await database.transaction().execute((work) => write(work, 'kept'))
    const failed = database.transaction().execute(async (work) => {
      await write(work, 'undone')
      throw new Error('planted')
    })
    await expect(failed).rejects.toThrow('planted')
    expect(await texts()).toEqual(['kept'])
  })

  it('are not part of a transaction that happens to be open beside them', async () => {
    const beside: Promise<unknown>[] = []
    const failed = database.transaction().execute(async (work) => {
      beside.push(write(database, 'beside'))
      await write(work, 'undone')
      throw new Error('planted')
    })
    await expect(failed).rejects.toThrow('planted')
    await Promise.all(beside)
    expect(await texts()).toEqual(['beside'])
  })

  it('fail, and do not wait for ever, when the engine is closed', async () => {
    await pglite.close()
    await expect(database.transaction().execute((work) => write(work, 'late'))).rejects.toThrow(/closed/)
    await expect(write(database, 'late')).rejects.toThrow(/closed/)
  })

  it('open the engine when the first of them comes, and close it in the end', async () => {
    let opened = 0
    const lazy = new Kysely<{ notes: { text: string } }>({
      dialect: new PgliteDialect(async () => {
        opened += 1
        return pglite
      }),
    })
    expect(opened).toBe(0)
    await write(lazy, 'first')
    await write(lazy, 'second')
    expect(opened).toBe(1)
    await lazy.destroy()
    expect(pglite.closed).toBe(true)
  })
})
