import { CompiledQuery } from 'kysely'
import { openPostgres } from '../../src/adapters/postgres/open/open-postgres.ts'
import type { SqlStore } from '../../src/adapters/postgres/open/sql-store.ts'
import { commandId } from '../../src/domain/kernel/ids.ts'
import { AuditService, sha256 } from '../../src/entry/container.ts'
import { type ConversationId, unwrap } from '../../src/entry/index.ts'
import type { AuditProblem } from '../../src/entry/ports.ts'
import { Scene } from '../../src/testing/scene.ts'
import { openStore, type StoreKind } from '../support/stores.ts'
import { cloneDatabase, withDatabase } from '../support/test-databases.ts'

/** A store, and what a superuser may do behind its back. */
export class Stage {
  readonly store: SqlStore
  readonly scene: Scene
  readonly audit: AuditService

  constructor(store: SqlStore) {
    this.store = store
    this.scene = new Scene({ store, passTime: async () => {} })
    this.audit = new AuditService({ store, sha256 })
  }

  static async on(kind: Exclude<StoreKind, 'memory'>): Promise<Stage> {
    return new Stage((await openStore(kind)).store as SqlStore)
  }

  /** Runs statements in one transaction, with triggers and foreign keys switched off. Says how many rows they changed. */
  async tamper(...statements: readonly (readonly [text: string, ...parameters: unknown[]])[]): Promise<number> {
    return this.store.database.kysely.transaction().execute(async (transaction) => {
      await transaction.executeQuery(CompiledQuery.raw('set local session_replication_role = replica'))
      let changed = 0
      for (const [text, ...parameters] of statements) {
        changed += Number((await transaction.executeQuery(CompiledQuery.raw(text, parameters))).numAffectedRows ?? 0)
      }
      return changed
    })
  }

  async rows<Row>(text: string, ...parameters: readonly unknown[]): Promise<readonly Row[]> {
    return (await this.store.database.kysely.executeQuery<Row>(CompiledQuery.raw(text, [...parameters]))).rows
  }

  /** A conversation of twelve entries, from its opening to a completed handoff. The handoff was initiated by name. */
  async conversation(): Promise<ConversationId> {
    const named = { commandId: commandId(this.scene.ids.next()) }
    const { handoff } = await this.scene.initiated({ document: 'What I know so far', ...named })
    unwrap(await this.scene.service.completeHandoff({ handoff }))
    return handoff.conversationId
  }

  /** What verifying finds, in short: `modified 4`, or `intact 12`. */
  async found(id: ConversationId): Promise<string> {
    const verdict = unwrap(await this.audit.verify(id))
    return verdict.intact ? `intact ${verdict.entries}` : inShort(verdict.problem)
  }
}

const inShort = ({ class: kind, position }: AuditProblem): string => [kind, position].join(' ').trim()

/** A database of its own on the test server, for those who need its address. */
export const ownDatabase = async (): Promise<string> =>
  withDatabase(process.env.TEST_DATABASE_URL ?? '', await cloneDatabase())

/** A stage on a database of its own. */
export const ownStage = async (url: string): Promise<Stage> => new Stage(await openPostgres({ connectionString: url }))
