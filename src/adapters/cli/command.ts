import type { ParseArgsConfig } from 'node:util'

/** Where a command writes. */
export interface Output {
  line(text: string): void
}

/** What a command was given. */
export interface Invocation {
  readonly values: Readonly<Record<string, string | boolean | undefined>>
  readonly positionals: readonly string[]
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Results. */
  readonly out: Output
  /** Progress and remarks; never mixed into results. */
  readonly notes: Output
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
