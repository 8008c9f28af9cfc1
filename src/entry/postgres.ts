export { openPglite, type PgliteOptions } from '../adapters/postgres/embedded/open-pglite.ts'
export { type MigrationStatus, Migrator } from '../adapters/postgres/migrate/migrator.ts'
export { offlineSql } from '../adapters/postgres/migrate/offline-sql.ts'
export { openPostgres, type PostgresOptions } from '../adapters/postgres/open/open-postgres.ts'
