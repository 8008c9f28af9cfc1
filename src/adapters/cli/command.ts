import type { ParseArgsConfig } from 'node:util'

/** Where a command writes. */
export interface Output {
  line(text: string): void
}

/** What a command was given. */
export interface Invocation {
  readonly values: Readonly<Record<string, string | boolean | undefined>>
  readonly positionals: readonly string[]
  readonly out: Output
}

/** One word after `baton`. */
export interface CliCommand {
  /** One line for the list of commands. */
  readonly summary: string
  /** What follows the word, for its help. */
  readonly usage: string
  readonly options: NonNullable<ParseArgsConfig['options']>
  run(invocation: Invocation): Promise<void>
}
