import { CompiledQuery } from 'kysely'
import { defined } from '../../../domain/kernel/defined.ts'
import { describeThrown } from '../../../domain/kernel/describe-thrown.ts'
import { StoreFailure } from '../../../ports/store/store-failure.ts'
import type { Migrator } from '../migrate/migrator.ts'
import type { Addresses } from '../open/server-list.ts'
import { type OpenMigrator, openMigratorAt } from '../open-migrator.ts'
import type { Database } from '../statements/database.ts'

/** Where the store is that is looked at: on a server, or in the folder of an embedded store. */
export interface StoreAddress {
  readonly connectionString?: Addresses
  readonly dataDir?: string
  readonly schema?: string
  readonly pooled?: boolean
}

/** A store that checks share. It is opened for the first question, as it is: nothing is migrated. */
export class ExaminedStore implements AsyncDisposable {
  readonly address: StoreAddress
  #opened: OpenMigrator | undefined
  /** False once it did not open: then the checks that need it have nothing to say. */
  isOpen = false

  constructor(address: StoreAddress) {
    this.address = address
  }

  get isServer(): boolean {
    return this.address.connectionString !== undefined
  }

  get database(): Database {
    return this.#open().database
  }

  get migrator(): Migrator {
    return this.#open().migrator
  }

  /** Asks one question. @throws whatever keeps the store from answering */
  async ask<Row>(question: string, ...parameters: readonly unknown[]): Promise<readonly Row[]> {
    const query = CompiledQuery.raw(question, [...parameters])
    return (await this.database.kysely.executeQuery<Row>(query)).rows
  }

  /** Whether the schema has all changes, and no others. Asked by checks that look at what only such a schema has. */
  async isMigrated(): Promise<boolean> {
    try {
      await this.migrator.check()
      return true
    } catch (error) {
      if (error instanceof StoreFailure) return false // the check of the schema says so
      throw new Error(`the list of changes cannot be read: ${describeThrown(error)}`, { cause: error })
    }
  }

  #open(): OpenMigrator {
    const { connectionString, dataDir, schema } = this.address
    this.#opened ??= openMigratorAt(defined({ connectionString, dataDir, schema, mustExist: true }))
    return this.#opened
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened?.[Symbol.asyncDispose]()
  }
}
