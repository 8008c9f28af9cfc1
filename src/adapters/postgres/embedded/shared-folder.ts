import { resolve } from 'node:path'
import { defined } from '../../../domain/kernel/defined.ts'
import { StoreFailure } from '../../../ports/store/store-failure.ts'
import { toFailure } from '../statements/pg-errors.ts'
import type { Door } from './door/door.ts'
import { foundDoorFolder } from './door/door-place.ts'
import { Turns } from './door/turn-queue.ts'
import { type Engine, PgliteDriver, type WireEngine } from './pglite-dialect.ts'
import { alreadyThere, type Beginning, openFolder, preparedFolder } from './pglite-folder.ts'
import { isCopiedLock, type LockHolder } from './pglite-holder.ts'
import { KnownDatabase } from './pglite-identity.ts'
import { lockHolderOf } from './pglite-proven-lock.ts'
import { replaced } from './pglite-replaced.ts'
import { notAnswered, PATIENCE_MS, Waiting } from './shared-waiting.ts'
import { type FolderWay, wayThrough } from './way-through.ts'

/** How long to wait before looking again at first, and at last: nobody is kept busy for minutes. */
const [LOOK_AGAIN_MS, MOST_MS] = [60, 1_000]

/** Waits a little, each time longer, and not as long as the others who wait. */
const awhile = (tries: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, Math.min(LOOK_AGAIN_MS * (1 + tries / 4), MOST_MS) * Math.random()))

/**
 * The folder of an embedded store that any number of processes of one user may open. The first process has the engine and
 * lets the others in at its door; when it has ended, the first of the others that needs the store takes the folder over.
 */
export class SharedFolder {
  readonly #dataDir: string
  readonly #waiting: Waiting
  /** How long to wait for the process that has the folder. */
  readonly patienceMs: number
  #beginning: Beginning
  /** The database that was opened, by whichever process. */
  #known: KnownDatabase | undefined
  #lost: StoreFailure | undefined
  #finding: Promise<FolderWay> | undefined
  #isClosed = false

  constructor(dataDir: string, beginning: Beginning) {
    // Resolved once: the process may change its working directory. A name that is empty is refused when it is used.
    this.#dataDir = dataDir.trim() === '' ? dataDir : resolve(dataDir)
    this.#beginning = { share: true, ...beginning }
    this.#waiting = new Waiting(dataDir, beginning.onWarning)
    this.patienceMs = beginning.patienceMs ?? PATIENCE_MS
  }

  /** The way there is, or the next that is found. @throws StoreFailure when there is none */
  async way(): Promise<FolderWay> {
    if (this.#isClosed) throw new StoreFailure('store.failed', 'The store is closed')
    if (this.#lost !== undefined) throw this.#lost
    this.#finding ??= this.#find()
    const finding = this.#finding
    try {
      return await finding
    } catch (error) {
      this.#forget(finding)
      throw error
    }
  }

  /**
   * Gives up a way through a door that leads nowhere any more, unless another was found already. It is not closed: those
   * who wait in it would never hear of that, and its connections end by themselves.
   */
  async lose(lost: FolderWay, tries: number): Promise<void> {
    const finding = this.#finding
    if ((await finding?.catch(() => undefined)) === lost) this.#forget(finding)
    await awhile(tries)
  }

  /** Does what may have to wait for the process that has the folder, and says so when it takes long. */
  waitingFor<T>(work: () => Promise<T>): Promise<T> {
    return this.#waiting.during(work)
  }

  /**
   * The store answered, so it is there: one that is gone later is not made anew. Before that it may be missing although
   * its holder lets others in, because the holder is still making it; if the holder is killed then, the next one makes it.
   */
  hasStore(): void {
    this.#beginning = defined({ share: this.#beginning.share, mustExist: true })
    try {
      this.#known ??= new KnownDatabase(this.#dataDir)
    } catch {
      throw replaced(this.#dataDir, 'it was removed or moved away')
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const way = await this.#finding?.catch(() => undefined)
    await way?.close()
    this.#known?.unpin()
    this.#known = undefined
  }

  #forget(finding: Promise<FolderWay> | undefined): void {
    if (this.#finding === finding) this.#finding = undefined
  }

  async #find(): Promise<FolderWay> {
    const change = this.#known?.change()
    if (change !== undefined) throw replaced(this.#dataDir, change)
    const folder = preparedFolder(this.#dataDir, this.#beginning)
    // Nobody is warned twice.
    this.#beginning = defined({ ...this.#beginning, onWarning: undefined })
    return await this.waitingFor(() => this.#wayInto(folder))
  }

  async #wayInto(folder: string): Promise<FolderWay> {
    const deadline = Date.now() + this.patienceMs
    for (let tries = 1; ; tries += 1) {
      const way = await this.#wayOfOthers(folder)
      if (way !== undefined) return way
      try {
        return await taken(folder, this.#beginning)
      } catch (error) {
        const isHeld = error instanceof StoreFailure && error.code === 'store.locked'
        if (!isHeld || !this.#isPassing(folder) || Date.now() > deadline) throw error
      }
      await awhile(tries)
    }
  }

  async #wayOfOthers(folder: string): Promise<FolderWay | undefined> {
    const { share, loadDataDir } = this.#beginning
    const found = share === true ? lockHolderOf(folder) : undefined
    this.#waiting.holder = found?.holder
    if (found?.liveness !== 'alive' || isCopiedLock(found.holder, folder)) return undefined
    const { holder } = found
    const way = await wayThrough(folder, holder, (work) => this.#askedOf(holder, work), this.patienceMs)
    if (way === undefined || loadDataDir === undefined) return way
    await way.close()
    throw alreadyThere(folder)
  }

  /**
   * Asks the holder. Once it has said that its database was replaced, nothing is asked any more, also when another
   * process has the folder then. While the store is being opened, that is no loss: the holder has given it up, and what is there is opened.
   */
  async #askedOf<T>(holder: LockHolder, ask: () => Promise<T>): Promise<T> {
    try {
      return await this.waitingFor(ask)
    } catch (error) {
      const failure = toFailure(error)
      if (failure.code === 'store.missing') {
        if (this.#known !== undefined) this.#lost = failure
        else {
          this.#finding = undefined
          throw new StoreFailure('store.unavailable', failure.message, { cause: error })
        }
      }
      throw error instanceof StoreFailure && error.retryable ? notAnswered(holder, error, this.patienceMs) : error
    }
  }

  /** Whether somebody was only quicker: it can be waited for, or lets others in. */
  #isPassing(folder: string): boolean {
    if (this.#beginning.share !== true) return false
    const found = lockHolderOf(folder)
    if (found === undefined || found.liveness === 'dead') return true
    const { holder, liveness } = found
    if (isCopiedLock(holder, folder)) return false
    return liveness === 'alive' && holder.door !== undefined && foundDoorFolder(folder, holder.door) !== undefined
  }
}

/** Takes the folder, and serves it. */
const taken = async (folder: string, beginning: Beginning): Promise<FolderWay> => {
  const { pglite, lock } = await openFolder(folder, beginning)
  const { door } = lock
  const engine = await servedAt(door, pglite)
  const driver = new PgliteDriver(async () => engine)
  await driver.init()
  // The lock goes last: until the engine is closed it may still write.
  const close = async (): Promise<void> => {
    await door?.close()
    await engine.close().finally(() => lock.release())
  }
  let closing: Promise<void> | undefined
  return { driver, close: () => (closing ??= close()) }
}

/**
 * Lets this process look at its sockets first. The engine answers without them, so a program that asks one thing after
 * the other would never come to serve anybody else.
 */
const afterOthersWereHeard = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/**
 * Serves an engine at a door, if there is one. The process that has it speaks to it through what this returns, and takes
 * turns as visitors do: what is looked at before a statement is looked at right before it, and not while it waits.
 */
export const servedAt = async (door: Door | undefined, engine: WireEngine): Promise<Engine> => {
  const turns = new Turns()
  const { rows } = await engine.query<{ server_version: string }>('show server_version')
  door?.serve({
    turns,
    serverVersion: rows[0]?.server_version ?? '',
    exchange: (messages) => engine.exchange(messages),
    rollback: () => engine.rollback(),
  })
  const inTurn = async <T>(work: () => Promise<T>): Promise<T> => {
    if (door !== undefined) await afterOthersWereHeard()
    return turns.run(work)
  }
  return {
    get closed() {
      return engine.closed
    },
    waitReady: engine.waitReady,
    query: (text, parameters) => inTurn(() => engine.query(text, parameters)),
    transaction: (work) => inTurn(() => engine.transaction(work)),
    close: () => turns.run(() => engine.close()),
  }
}
