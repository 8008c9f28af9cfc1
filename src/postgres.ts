export { type MigrationStatus, Migrator, offlineSql } from './adapters/postgres/migrator.ts'
export { openPglite, type PgliteOptions } from './adapters/postgres/open-pglite.ts'
export { openPostgres, type PostgresOptions } from './adapters/postgres/open-postgres.ts'
