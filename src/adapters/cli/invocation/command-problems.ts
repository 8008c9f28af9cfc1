/** The command line could not be understood. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The command did what it should, and what came of it has an exit status of its own. */
export class CommandNotCompleted extends Error {
  override readonly name = 'CommandNotCompleted'
  readonly status: number

  constructor(message: string, status: number) {
    super(message)
    this.status = status
  }
}
