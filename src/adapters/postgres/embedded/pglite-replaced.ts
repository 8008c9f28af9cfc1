import { StoreFailure } from '../../../ports/store/store-failure.ts'
import type { Asking, WireEngine } from './pglite-dialect.ts'
import type { HeldDatabase } from './pglite-identity.ts'

/** The parts of an engine that has its files in a folder. */
export interface HeldParts {
  readonly folder: string
  readonly database: HeldDatabase
  /** Is called once, when the database turns out to be another one: nothing may be written any more, not even by closing. */
  readonly giveUp: () => Promise<void>
}

/** The store is not the one that was opened. */
export const replaced = (folder: string, change: string, pid = process.pid): StoreFailure =>
  new StoreFailure(
    'store.missing',
    `The embedded store in ${folder} is not the one that process ${pid} opened: ${change}. That process writes nothing more, ` +
      'and what it had acknowledged is where the old files are. Close the store and open it again to use what is there ' +
      'now. A store may be moved or restored only while no process has it open.',
  )

const never = (): Promise<never> => new Promise(() => {})

/**
 * An engine that is asked nothing more, and is not closed either, once its folder leads to another database: a backup that
 * was restored, or a store that somebody made there. The look costs some microseconds a statement.
 */
export const guardReplaced = (engine: WireEngine, { folder, database, giveUp }: HeldParts): WireEngine => {
  let failure: StoreFailure | undefined
  let givingUp: Promise<void> | undefined
  let isClosed = false
  const mustBeSame = (): void => {
    if (isClosed) return
    if (failure === undefined) {
      const change = database.change()
      if (change === undefined) return
      failure = replaced(folder, change)
      // As far as it goes: what is left of a process that has ended hinders nobody.
      givingUp = giveUp().catch(() => {})
    }
    throw failure
  }
  const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
    mustBeSame()
    try {
      return await work()
    } catch (error) {
      if (isKnown()) {
        database.remember()
        // A folder that went away in the middle is a better reason than the file that the engine missed.
        mustBeSame()
      }
      throw error
    } finally {
      if (isKnown()) database.remember()
    }
  }
  const isKnown = (): boolean => failure === undefined && !isClosed
  /** A transaction that finds another database is neither committed nor rolled back: both write. It is left as it is. */
  const inTransaction = async <T>(work: () => Promise<T>, stop: (error: unknown) => void): Promise<T> => {
    try {
      const result = await work()
      mustBeSame()
      return result
    } catch (error) {
      if (failure === undefined) throw error
      stop(failure)
      return never()
    }
  }
  return {
    get closed() {
      return engine.closed
    },
    waitReady: engine.waitReady,
    query: (text, parameters) => guarded(() => engine.query(text, parameters)),
    transaction: (work) =>
      guarded(
        () =>
          new Promise((resolve, reject) => {
            const guardedAsking = (tx: Asking): Asking => ({
              query: (text, parameters) => guarded(() => tx.query(text, parameters)),
            })
            engine.transaction((tx) => inTransaction(() => work(guardedAsking(tx)), reject)).then(resolve, reject)
          }),
      ),
    exchange: (messages) => guarded(() => engine.exchange(messages)),
    rollback: async () => {
      if (failure === undefined) await guarded(() => engine.rollback())
    },
    close: async () => {
      try {
        mustBeSame()
      } catch {
        // What is not closed is put in order by the next opening, as after a kill.
        await givingUp
        return
      }
      isClosed = true
      await engine.close()
    },
  }
}
