/** How an agent stopped: by itself, as it should, or not. */
export type AgentStop = 'well' | 'badly'

/** The report of an agent about its end, before it stopped. */
export type AgentReport =
  /** A result that is a success: `"is_error": false`, `turn.completed`. */
  | 'success'
  /**
   * A result that is an error: `"is_error": true`, `error_max_turns`, `turn.failed`, or an `error` and nothing after
   * it.
   */
  | 'error'
  /** Records of a known format, none of which is a result. */
  | 'nothing'
  /** The same, and one of its lines was too long to be read: the result may have been in it. */
  | 'a line that was cut'
  /** No record of a known format. */
  | 'no known line'

/**
 * The verdict about an agent: its work is done; it is not, and its words or the way it stopped give the reason; or its
 * output was cut or unknown.
 */
export type AgentVerdict = 'done' | 'its words' | 'how it stopped' | 'cut' | 'unknown'

/**
 * The meaning of the end of an agent, for a command of the user's own and for a function: an error that the agent
 * reports is a failure with any exit status, and a bad exit status is a failure with any report.
 */
export const AGENT_ENDS = {
  well: {
    success: 'done',
    error: 'its words',
    nothing: 'done',
    'a line that was cut': 'cut',
    'no known line': 'unknown',
  },
  badly: {
    success: 'how it stopped',
    error: 'its words',
    nothing: 'how it stopped',
    'a line that was cut': 'how it stopped',
    'no known line': 'how it stopped',
  },
} as const satisfies Record<AgentStop, Record<AgentReport, AgentVerdict>>

/** Codex itself says "Codex ran out of room in the model's context window"; providers say it in their own words. */
const TOO_LONG =
  /context[ _]window|context[ _]length|maximum context|\b(prompt|input|request|conversation|context)\b.{0,40}\btoo (long|large)\b/i

/**
 * Whether the words of an error say that a window took no more. Only for errors: an agent may well talk about such
 * things.
 */
export const saysTooLong = (words: string): boolean => TOO_LONG.test(words)
