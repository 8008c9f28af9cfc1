/** What broke. */
export type StoreFailureCode = 'store.unavailable' | 'store.integrity' | 'store.contention'

/**
 * The store broke. Unlike a refusal this is thrown: nobody's rule said no.
 *
 * `retryable` means the same command, with the same command id, may be tried again; whether the first try was kept or
 * not, it is then kept once.
 *
 * @example
 * ```ts
 * const failure = new StoreFailure('store.unavailable', 'The server closed the connection')
 * if (failure.retryable) console.log('Trying again') // => Trying again
 * ```
 */
export class StoreFailure extends Error {
  override readonly name = 'StoreFailure'
  readonly code: StoreFailureCode
  readonly retryable: boolean

  constructor(code: StoreFailureCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.retryable = code !== 'store.integrity'
  }
}
