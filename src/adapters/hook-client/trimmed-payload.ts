import { isRecord } from '../../domain/kernel/record.ts'
import type { TerminalHook } from '../../ports/terminal/wire.ts'
import type { RawInput } from './read-input.ts'

/** Texts that are long, and that the transcript holds anyway. Tools' input and output may hold secrets as well. */
const LEFT_OUT: readonly string[] = [
  'tool_input',
  'tool_response',
  'tool_result',
  'tool_output',
  'last_assistant_message',
  'compact_summary',
  'custom_instructions',
  'background_tasks',
  'session_crons',
  'error',
]
/** The fields of a status line that say something about the window or the session. */
const OF_A_SAMPLE: readonly string[] = [
  'session_id',
  'transcript_path',
  'cwd',
  'model',
  'version',
  'cost',
  'context_window',
  'exceeds_200k_tokens',
]
/** A path is worth nothing in part. */
const WHOLE: readonly string[] = ['transcript_path', 'cwd', 'agent_transcript_path']
const LONGEST = 4_000
/** The first half of a pair, at a cut. */
const HALF = /[\ud800-\udbff]$/
const LONGEST_PATH = 4_096
const DEEPEST = 6
const MOST_ITEMS = 50

/** Far below what the service takes. */
const MOST_CHARACTERS = 200_000
/** All that is sent of an input that is still too long after that. */
const ESSENTIAL: readonly string[] = [
  'session_id',
  'transcript_path',
  'cwd',
  'hook_event_name',
  'source',
  'reason',
  'trigger',
]

/** A hook's input without what is long: the texts above are left out, others are cut to 4,000 characters. */
export const trimmedPayload = (
  event: TerminalHook,
  input: RawInput,
  hide: (text: string) => string = (text) => text,
): RawInput => {
  const trimmed = fieldsOf(input, hide, (name) => event !== 'statusline' || OF_A_SAMPLE.includes(name))
  if (JSON.stringify(trimmed).length <= MOST_CHARACTERS) return trimmed
  return fieldsOf(input, hide, (name) => ESSENTIAL.includes(name) && typeof input[name] === 'string')
}

type Hide = (text: string) => string

const fieldsOf = (input: RawInput, hide: Hide, isWanted: (name: string) => boolean): RawInput =>
  Object.fromEntries(
    Object.entries(input)
      .filter(([name]) => isWanted(name))
      .slice(0, MOST_ITEMS)
      .flatMap(([name, value]) => trimmedField(name, value, { depth: DEEPEST, hide })),
  )

interface How {
  readonly depth: number
  readonly hide: Hide
}

const trimmedField = (name: string, value: unknown, how: How): readonly (readonly [string, unknown])[] => {
  if (LEFT_OUT.includes(name)) return []
  if (WHOLE.includes(name) && typeof value === 'string' && value.length > LONGEST_PATH) return []
  if (WHOLE.includes(name) && typeof value === 'string') return [[name, value]]
  const trimmed = trimmedValue(value, how)
  return trimmed === undefined ? [] : [[name, trimmed]]
}

const trimmedValue = (value: unknown, { depth, hide }: How): unknown => {
  if (typeof value === 'string') return trimmedText(value, hide)
  if (depth === 0 && typeof value === 'object' && value !== null) return undefined
  if (Array.isArray(value))
    return value.slice(0, MOST_ITEMS).map((each) => trimmedValue(each, { depth: depth - 1, hide }) ?? null)
  if (!isRecord(value)) return value
  const fields = Object.entries(value).slice(0, MOST_ITEMS)
  return Object.fromEntries(fields.flatMap(([name, each]) => trimmedField(name, each, { depth: depth - 1, hide })))
}

/** Far more than is kept: what is hidden may be most of it. */
const MOST_LOOKED_AT = 65_536
const LONGEST_WORD = 4_096
/** Greedy and at the beginning only: a pattern that looks for the end from every place takes seconds in a hook. */
const UP_TO_A_BLANK = /^.*\s/s

/** The word that a cut went through may be half of a secret, which nobody could tell any more. */
const withoutLastWord = (text: string): string =>
  `${text.slice(0, -LONGEST_WORD)}${UP_TO_A_BLANK.exec(text.slice(-LONGEST_WORD))?.[0] ?? ''}`

/** Secrets are hidden before anything is cut: half of one would be left at the end. */
const trimmedText = (text: string, hide: Hide): string => {
  const looked = text.length > MOST_LOOKED_AT ? withoutLastWord(text.slice(0, MOST_LOOKED_AT)) : text
  const shown = hide(looked)
  const isWhole = shown.length <= LONGEST && looked.length === text.length
  return isWhole ? shown : `${shown.slice(0, LONGEST).replace(HALF, '')}…`
}
