/** The reasons for which a runtime does not run, or a question gets no answer. */
export type RuntimeFailureCode =
  | 'runtime.missing'
  | 'runtime.prompt_too_long'
  | 'runtime.question_failed'
  /** It answered without text: with a tool call, or with nothing. A second question may get a text. */
  | 'runtime.no_words'

/**
 * A runtime that is missing, or a question without an answer. Its code says which.
 *
 * @example
 * ```ts
 * const missing = new RuntimeFailure('runtime.missing', 'The package could not be loaded.')
 * console.log(missing.code) // => runtime.missing
 * ```
 */
export class RuntimeFailure extends Error {
  override readonly name = 'RuntimeFailure'
  readonly code: RuntimeFailureCode

  constructor(code: RuntimeFailureCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
