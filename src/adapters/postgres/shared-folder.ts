import type { Driver } from 'kysely'
import { defined } from '../../domain/kernel/defined.ts'
import { StoreFailure } from '../../ports/store-failure.ts'
import { foundDoorFolder } from './door/door-place.ts'
import { servedAt } from './door/served-engine.ts'
import { wayThrough } from './door/visitor.ts'
import { PgliteDriver } from './pglite-dialect.ts'
import { alreadyThere, type Beginning, openFolder, preparedFolder } from './pglite-folder.ts'
import { holderOf } from './pglite-proven-lock.ts'
import type { OnWarning } from './pglite-rights.ts'

/** A way to the store in a folder: the engine itself, or the door of the process that has it. */
export interface Way {
  readonly driver: Driver
  /** The process that has the engine, as words in a sentence; nothing when it is this one. */
  readonly holder?: string
  /** More than once is fine. */
  close(): Promise<void>
}

/** How long to wait for another process to open the folder, to let this one in, to answer, or to end. */
export const PATIENCE_MS = 120_000

/** So long nobody is told; a machine that is busy needs some seconds to open a store. */
const UNSAID_MS = 5_000

/** How long to wait before looking again, at most. */
const LOOK_AGAIN_MS = 60

/** Waits a little, and not as long as the others who wait. */
const awhile = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS * Math.random()))

/**
 * The folder of an embedded store that any number of processes of one user may open. Whoever is first has the engine and
 * lets the others in at its door; when it has ended, the first of the others that needs the store takes the folder over.
 */
export class SharedFolder {
  readonly #dataDir: string
  readonly #onWarning: OnWarning
  #beginning: Beginning
  #finding: Promise<Way> | undefined
  #isClosed = false

  constructor(dataDir: string, beginning: Beginning) {
    this.#dataDir = dataDir
    this.#beginning = { share: true, ...beginning }
    this.#onWarning = beginning.onWarning ?? (() => {})
  }

  /** The way there is, or the next that is found. @throws StoreFailure when there is none */
  async way(): Promise<Way> {
    if (this.#isClosed) throw new StoreFailure('store.failed', 'The store is closed')
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
  async lose(lost: Way): Promise<void> {
    const finding = this.#finding
    if ((await finding?.catch(() => undefined)) === lost) this.#forget(finding)
    await awhile()
  }

  /** Waits for the holder of the folder, and says so when it takes long. */
  async waitingFor<T>(holder: string, work: () => Promise<T>): Promise<T> {
    const sentence = `Waiting for ${holder}, which has the embedded store in ${this.#dataDir}, to let this process in.`
    const timer = setTimeout(() => this.#onWarning(sentence), UNSAID_MS)
    try {
      return await work()
    } finally {
      clearTimeout(timer)
    }
  }

  /**
   * The store answered, so it is there: one that is gone later is not made anew. Before that it may be missing although
   * its holder lets others in, because the holder is still making it; if the holder is killed then, the next one makes it.
   */
  hasStore(): void {
    this.#beginning = defined({ share: this.#beginning.share, mustExist: true })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const way = await this.#finding?.catch(() => undefined)
    await way?.close()
  }

  #forget(finding: Promise<Way> | undefined): void {
    if (this.#finding === finding) this.#finding = undefined
  }

  async #find(): Promise<Way> {
    const folder = preparedFolder(this.#dataDir, this.#beginning)
    // Nobody is warned twice.
    this.#beginning = defined({ ...this.#beginning, onWarning: undefined })
    return await this.#wayInto(folder)
  }

  async #wayInto(folder: string): Promise<Way> {
    const deadline = Date.now() + PATIENCE_MS
    for (;;) {
      const way = await this.#wayOfOthers(folder)
      if (way !== undefined) return way
      try {
        return await taken(folder, this.#beginning)
      } catch (error) {
        const isHeld = error instanceof StoreFailure && error.code === 'store.locked'
        if (!isHeld || !this.#isPassing(folder) || Date.now() > deadline) throw error
      }
      await awhile()
    }
  }

  async #wayOfOthers(folder: string): Promise<Way | undefined> {
    const { share, loadDataDir } = this.#beginning
    const found = share === true ? holderOf(folder) : undefined
    if (found?.liveness !== 'alive') return undefined
    const way = await wayThrough(folder, found.holder, PATIENCE_MS)
    if (way === undefined || loadDataDir === undefined) return way
    await way.close()
    throw alreadyThere(folder)
  }

  /** Whether somebody was only quicker: it can be waited for, or lets others in. */
  #isPassing(folder: string): boolean {
    if (this.#beginning.share !== true) return false
    const found = holderOf(folder)
    if (found === undefined || found.liveness === 'dead') return true
    const { holder, liveness } = found
    return liveness === 'alive' && holder.door !== undefined && foundDoorFolder(folder, holder.door) !== undefined
  }
}

/** Takes the folder, and serves it. */
const taken = async (folder: string, beginning: Beginning): Promise<Way> => {
  const { pglite, lock } = await openFolder(folder, beginning)
  const { door } = lock
  const engine = door === undefined ? pglite : await servedAt(door, pglite)
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
