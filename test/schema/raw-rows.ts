import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { openPostgres } from '../../src/adapters/postgres/open/open-postgres.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import { Scene } from '../../src/testing/scene.ts'
import { cloneDatabase, withDatabase } from '../support/test-databases.ts'

/** A statement and its parameters. */
export type Statement = readonly [text: string, ...parameters: unknown[]]

/** What the database answers to an attempt. */
export type Answer =
  | 'accepted'
  | { readonly code: string; readonly constraint?: string | undefined; readonly column?: string | undefined }

/** Inserts a row that is like another but for some columns. The other one was written by Batonpass, so it is lawful. */
export const copyOf = (table: string, where: string, but: Readonly<Record<string, unknown>>): Statement => [
  `insert into batonpass.${table} select copy.* from batonpass.${table} original,
     jsonb_populate_record(original, $1::jsonb) as copy where ${where}`,
  JSON.stringify(but),
]

/** Tries statements as somebody with a plain client would, to the end of a transaction, and undoes them. */
export const attempt = async (client: pg.Client, statements: readonly Statement[]): Promise<Answer> => {
  await client.query('begin')
  try {
    for (const [text, ...parameters] of statements) {
      const { rowCount } = await client.query(text, parameters)
      if (rowCount === 0) throw new Error(`This changed nothing, so it proves nothing: ${text}`)
    }
    await client.query('set constraints all immediate')
    return 'accepted'
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error
    const { code = '', constraint, column } = error
    return { code, constraint, column }
  } finally {
    await client.query('rollback')
  }
}

/** A database in which everything lawful has happened: an open handoff, a completed one, a pause, a working session. */
export const lawfulDatabase = async () => {
  const connectionString = withDatabase(process.env.TEST_DATABASE_URL ?? '', await cloneDatabase())
  await using store = await openPostgres({ connectionString, maxConnections: 1 })
  const scene = new Scene({ store, passTime: async () => {} })
  const { service } = scene
  const open = await scene.initiated()
  const working = await scene.worked('search_code')
  const past = await scene.initiated()
  unwrap(await service.completeHandoff({ handoff: past.handoff }))
  const paused = await scene.worked('edit_file')
  unwrap(await service.pauseSession({ session: paused.session, byHand: true }))
  unwrap(await service.openConversation({ originalTask: 'Rotate the key', externalKey: 'job-1' }))
  const client = new pg.Client({ connectionString })
  await client.connect()
  return { client, connectionString, open, working, past, paused }
}

/** An id that nothing has. */
export const nobody = (): string => randomUUID()
