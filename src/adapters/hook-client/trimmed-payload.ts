import type { HookEvent } from './hook-events.ts'
import { type HookInput, isRecord } from './read-input.ts'

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
export const trimmedPayload = (event: HookEvent, input: HookInput): HookInput => {
  const trimmed = fieldsOf(input, (name) => event !== 'statusline' || OF_A_SAMPLE.includes(name))
  if (JSON.stringify(trimmed).length <= MOST_CHARACTERS) return trimmed
  return fieldsOf(input, (name) => ESSENTIAL.includes(name) && typeof input[name] === 'string')
}

const fieldsOf = (input: HookInput, isWanted: (name: string) => boolean): HookInput =>
  Object.fromEntries(
    Object.entries(input)
      .filter(([name]) => isWanted(name))
      .slice(0, MOST_ITEMS)
      .flatMap(([name, value]) => trimmedField(name, value, DEEPEST)),
  )

const trimmedField = (name: string, value: unknown, depth: number): readonly (readonly [string, unknown])[] => {
  if (LEFT_OUT.includes(name)) return []
  if (WHOLE.includes(name) && typeof value === 'string' && value.length > LONGEST_PATH) return []
  if (WHOLE.includes(name) && typeof value === 'string') return [[name, value]]
  const trimmed = trimmedValue(value, depth)
  return trimmed === undefined ? [] : [[name, trimmed]]
}

const trimmedValue = (value: unknown, depth: number): unknown => {
  if (typeof value === 'string') return value.length > LONGEST ? `${value.slice(0, LONGEST).replace(HALF, '')}…` : value
  if (depth === 0 && typeof value === 'object' && value !== null) return undefined
  if (Array.isArray(value)) return value.slice(0, MOST_ITEMS).map((each) => trimmedValue(each, depth - 1) ?? null)
  if (!isRecord(value)) return value
  const fields = Object.entries(value).slice(0, MOST_ITEMS)
  return Object.fromEntries(fields.flatMap(([name, each]) => trimmedField(name, each, depth - 1)))
}
