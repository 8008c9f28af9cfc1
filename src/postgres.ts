export { type MigrationStatus, Migrator } from './adapters/postgres/migrator.ts'
export { offlineSql } from './adapters/postgres/offline-sql.ts'
export { openPglite, type PgliteOptions } from './adapters/postgres/open-pglite.ts'
export { openPostgres, type PostgresOptions } from './adapters/postgres/open-postgres.ts'
