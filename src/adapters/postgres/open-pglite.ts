import { PGlite } from '@electric-sql/pglite'
import { PGliteDialect } from 'kysely'
import { defined } from '../../domain/defined.ts'
import { Migrator } from './migrator.ts'
import { SqlStore } from './sql-store.ts'

/** Where the embedded store keeps its files. */
export interface PgliteOptions {
  /** A folder; left out means in memory, gone with the process. */
  readonly dataDir?: string
  readonly schema?: string
  /** A dump of a data folder to begin from. */
  readonly loadDataDir?: Blob
}

/** Opens the embedded store and brings its schema up to date. */
export const openPglite = async (options: PgliteOptions = {}): Promise<SqlStore> => {
  const { dataDir, schema = 'batonpass', loadDataDir } = options
  const pglite = await PGlite.create(defined({ dataDir, loadDataDir }))
  const close = async (): Promise<void> => {
    if (!pglite.closed) await pglite.close()
  }
  const store = new SqlStore(new PGliteDialect({ pglite }), schema, close)
  await new Migrator(store.database).up()
  return store
}
