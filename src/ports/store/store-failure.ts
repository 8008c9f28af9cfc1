/** The part of the store that broke. */
export type StoreFailureCode =
  /** No answer. The same command may be tried again. */
  | 'store.unavailable'
  /** Too many writers change the same rows. The same command may be tried again. */
  | 'store.contention'
  /** The store refused a write that would break its record. */
  | 'store.integrity'
  /** The schema is missing or older than this program. */
  | 'store.not_migrated'
  /** The schema was made before the first release, with numbers of changes that no program continues. */
  | 'store.old_numbering'
  /** The schema is newer than this program. */
  | 'store.newer_schema'
  /** Another process has the embedded store, and cannot share it with this one. */
  | 'store.locked'
  /** The disk is full. What was acknowledged is kept; the same command may be tried when there is space again. */
  | 'store.full'
  /** There is no store where one was to be read, and none was made. */
  | 'store.missing'
  /**
   * The store has less than it answered this process before: a standby without the last commits took over, or an older
   * copy was restored. Nothing is built on it.
   */
  | 'store.set_back'
  /** The address of the store is empty, or is no address. */
  | 'store.bad_address'
  /** Anything else; the cause says more. */
  | 'store.failed'

const RETRYABLE: ReadonlySet<StoreFailureCode> = new Set(['store.unavailable', 'store.contention'])

/**
 * The store broke. Unlike a refusal this is thrown, because no rule refused anything.
 *
 * `retryable` means the same command, with the same command id, may be tried again; whether the first try was stored
 * or not, the command is then stored once.
 *
 * @example
 * ```ts
 * const failure = new StoreFailure('store.unavailable', 'The database did not answer')
 * console.log(failure.code, failure.retryable) // => store.unavailable true
 * ```
 */
export class StoreFailure extends Error {
  override readonly name = 'StoreFailure'
  readonly code: StoreFailureCode
  readonly retryable: boolean

  constructor(code: StoreFailureCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.retryable = RETRYABLE.has(code)
  }
}
