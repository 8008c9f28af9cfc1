import type { ParseArgsConfig } from 'node:util'

/** Where a command writes. */
export interface Output {
  line(text: string): void
  /** Shows a last line that the next one takes the place of; an empty one takes it away. Absent where nothing can be redrawn. */
  status?(text: string): void
}

/** What a command was given. */
export interface Invocation {
  /** Flags by name; one that may be repeated has a list. */
  readonly values: Readonly<Record<string, string | boolean | readonly string[] | undefined>>
  readonly positionals: readonly string[]
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Results. */
  readonly out: Output
  /** Progress and remarks; never mixed into results. */
  readonly notes: Output
  /** All of standard input. */
  readonly input: () => Promise<string>
  /** From now on Ctrl-C aborts this, so that the command can put its things in order. The second one ends the process. */
  readonly interruption: () => AbortSignal
}

/** One command: a word or two after `baton`. */
export interface CliCommand {
  /** One line for the list of commands. */
  readonly summary: string
  /** What follows `baton`, for its help. */
  readonly usage: string
  /** More lines for its help. */
  readonly details?: string
  readonly options: NonNullable<ParseArgsConfig['options']>
  run(invocation: Invocation): Promise<void>
}
