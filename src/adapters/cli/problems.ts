/** The command line could not be understood. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
