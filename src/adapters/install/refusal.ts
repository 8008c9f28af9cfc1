import { err, type Result } from '../../domain/kernel/result.ts'

/** The reasons why settings of a person are not touched. */
export type SettingsRefusalCode =
  /** The file cannot be read, is no file, or is too large. */
  | 'settings.unreadable'
  /** It is not the JSON or TOML it should be. */
  | 'settings.malformed'
  /** It is JSON, and what is in it has another shape than the runtime takes. */
  | 'settings.unexpected_shape'
  /** It may not be written. */
  | 'settings.not_writable'
  /** Somebody else wrote to it at the same time. */
  | 'settings.changed_meanwhile'
  /** Something with our name is there, and it is not ours. */
  | 'settings.foreign_entry'

/** A no: the file it is about, and a sentence that says what to do. Nothing was changed. */
export interface SettingsRefusal {
  readonly code: SettingsRefusalCode
  readonly file: string
  readonly message: string
}

/** An answer about settings, or the reason why they were not touched. */
export type Settled<Value> = Result<Value, SettingsRefusal>

/** A no about part of a text, before it is known which file the text is from. */
export interface TextProblem {
  readonly code: SettingsRefusalCode
  /** The rest of a sentence that begins with the file. */
  readonly problem: string
}

/** A no about a file. */
export const refuse = (file: string, { code, problem }: TextProblem) =>
  err<SettingsRefusal>({ code, file, message: `${file} ${problem}` })

/** A no about a text. */
export const wrong = (problem: string, code: SettingsRefusalCode = 'settings.malformed') =>
  err<TextProblem>({ code, problem })
