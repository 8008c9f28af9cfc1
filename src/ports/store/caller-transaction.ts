/** A client of `pg` on which the caller has begun a transaction. A pool is none: each of its statements may take another connection. */
export interface ClientInTransaction {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: unknown[] }>
  /** `T` inside a transaction, where the driver can tell. */
  getTransactionStatus?(): string | null
  readonly totalCount?: never
}

/** A transaction of Kysely. A plain Kysely is none. */
export interface KyselyTransaction {
  readonly isTransaction: true
  /** Without the caller's plugins, which may rename columns or parse texts. */
  withoutPlugins(): KyselyTransaction
  executeQuery(query: never): Promise<{ readonly rows: unknown[] }>
}

/** A transaction that the caller has begun, and that the caller will commit or roll back. */
export type CallerTransaction = ClientInTransaction | KyselyTransaction
