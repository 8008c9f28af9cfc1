import type { Output } from './output.ts'

/** A flag's value, as it was given; a flag that may be repeated has a list. */
export type FlagValue = string | boolean | readonly string[]

/** A store that a command uses. */
export interface UsedStore {
  /** Its place, without secrets. */
  readonly name: string
  /** Whether it is the person's own store, or was named on the command line: then nobody wonders which one it is. */
  readonly isUsual: boolean
}

/** The input of a command. */
export interface Invocation {
  /** Flags by name, without those that were not given. */
  readonly values: Readonly<Record<string, FlagValue | undefined>>
  readonly positionals: readonly string[]
  /** All words after `baton`, as they were typed. */
  readonly argv: readonly string[]
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The version of this program. */
  readonly version?: string
  /** Results. */
  readonly out: Output
  /** Progress and remarks; never mixed into results. */
  readonly notes: Output
  /** All of standard input. */
  readonly input: () => Promise<string>
  /** Asks the person, and waits for a line; undefined when there will be none. Absent where nobody can be asked. */
  readonly ask?: (question: string) => Promise<string | undefined>
  /** A command for a person to type, which works in the store that this one was told to use. */
  readonly hint: (words: string) => string
  /** Is told which store is used. The program names it where that is worth a line, and whenever something fails. */
  readonly onStore?: (store: UsedStore) => void
  /** From now on Ctrl-C aborts this, so that the command can put its things in order. The second one ends the process. */
  readonly interruption: () => AbortSignal
}

/** One flag. The parser, help, completion and the reference page are all made from it. */
export interface Flag {
  readonly help: string
  /** The name of its value in help. A flag without one is a switch. */
  readonly value?: string
  /** The words it takes, for help and completion. Left out, it takes any text. */
  readonly words?: readonly string[]
  readonly isMany?: true
  /** Its value may be left out. */
  readonly isValueOptional?: true
  /** The heading that help lists it under. */
  readonly group?: string
}

/** Flags by name, without the dashes. */
export type Flags = Readonly<Record<string, Flag>>

/** Carries a command out. */
export type Run = (invocation: Invocation) => Promise<void>

/** One command: a word or two after `baton`. Describing it loads nothing; its code is loaded when it runs. */
export interface CliCommand {
  /** One line for the list of commands. */
  readonly summary: string
  /** The words it takes, such as `[ID]` or `[FILE...]`. Each command says itself what is missing. */
  readonly takes?: string
  /** The values these words can have, for completion. */
  readonly words?: readonly string[]
  /** More lines for its help. */
  readonly details?: string
  readonly flags: Flags
  readonly load: () => Promise<Run>
}
