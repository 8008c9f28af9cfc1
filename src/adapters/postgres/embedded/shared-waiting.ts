import { StoreFailure } from '../../../ports/store/store-failure.ts'
import { describeHolder, type LockHolder } from './pglite-holder.ts'
import type { OnWarning } from './pglite-rights.ts'

/** How long to wait for another process to open the folder, to let this one in, to answer, or to end, unless told otherwise. */
export const PATIENCE_MS = 120_000

/** So long nobody is told; a machine that is busy needs some seconds to open a store. */
const UNSAID_MS = 5_000

/** Waiting for the process that has a folder. Nobody waits in silence, and nobody for ever. */
export class Waiting {
  readonly #dataDir: string
  readonly #onWarning: OnWarning
  #isSaid = false
  /** The process that has the folder, as far as is known; nothing when it is this one. */
  holder: LockHolder | undefined

  constructor(dataDir: string, onWarning: OnWarning = () => {}) {
    this.#dataDir = dataDir
    this.#onWarning = onWarning
  }

  /** Does something that may have to wait, and says so once when it takes long, however many wait. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    let isLong = false
    const timer = setTimeout(() => {
      isLong = true
      this.#say()
    }, UNSAID_MS)
    try {
      return await work()
    } finally {
      clearTimeout(timer)
      if (isLong) this.#isSaid = false
    }
  }

  #say(): void {
    if (this.#isSaid || this.holder === undefined) return
    this.#isSaid = true
    this.#onWarning(
      `Waiting for ${describeHolder(this.holder)}. It has the embedded store in ${this.#dataDir} and does not answer yet.`,
    )
  }
}

/** The holder lives and did not answer in time, or nobody listens at its door. */
export const notAnswered = (holder: LockHolder, cause: unknown, patienceMs: number): StoreFailure =>
  new StoreFailure(
    'store.unavailable',
    `The embedded store is held by ${describeHolder(holder)}. It did not answer within ${patienceMs / 1000} seconds. ` +
      (cause instanceof StoreFailure
        ? 'Is it stopped, or busy with something else? Try again, or end it: then another process takes the store over.'
        : 'Nobody listens at the socket that the lock names. End that process: then another one takes the store over. Or, ' +
          'if this folder is a copy of the one that the process has, delete the file "lock" in it.'),
    { cause },
  )
