import { keptName } from '../kernel/cut-text.ts'
import { COMPACTION_TRIGGERS, type CompactionTrigger, type WindowEvent } from '../window/window-event.ts'
import {
  absent,
  amount,
  type Check,
  type ChecksOf,
  type InputProblem,
  listOf,
  noteProblem,
  type OptionalCheck,
  objectOf,
  oneOf,
  trueOrFalse,
  wholeNumber,
} from './check.ts'
import { usedPercent } from './readings.ts'
import { line, moment } from './words.ts'

type Of<Type extends WindowEvent['type']> = Extract<WindowEvent, { type: Type }>

/** The result of a check on a value; undefined when the value is of no use. */
export const usable = <T>(check: Check<T>, value: unknown): T | undefined => {
  const problems: InputProblem[] = []
  const read = check(value, '', problems)
  return problems.length === 0 ? read : undefined
}

/** A detail that is left out where it is wrong. */
const detail = <T>(check: Check<T>): OptionalCheck<T> =>
  Object.assign((value: unknown) => usable(check, value), { isOptional: true as const })

const count = wholeNumber(0)
const length = amount(0, Number.MAX_SAFE_INTEGER)
const size: Check<number> = (value, field, problems) =>
  typeof value === 'number' && value > 0 && Number.isFinite(value)
    ? value
    : noteProblem(absent(value, 'a number above 0'), field, problems)

/** A word of any length that says something. */
const word: Check<string> = (value, field, problems) =>
  typeof value === 'string' && value.trim() !== '' ? value : noteProblem(absent(value, 'a word'), field, problems)

/** The same, as long as a name may be. */
const shortWord: Check<string> = (value, field, problems) => keptName(word(value, field, problems)) as string

/** Any text, also none: what has no name is named later. */
const anyText: Check<string> = (value) => (typeof value === 'string' ? value : '')

const origin = { at: detail(moment), thread: detail(word) }
const keyed = { ...origin, key: detail(word) }
const figures = { key: word, promptTokens: count, outputTokens: count }
const trigger: Check<CompactionTrigger> = (value) => usable(oneOf(...COMPACTION_TRIGGERS), value) ?? 'unknown'

type ChecksOfEvents = { readonly [Type in WindowEvent['type']]: ChecksOf<Omit<Of<Type>, 'type'>> }

const EVENTS: ChecksOfEvents = {
  request: { ...origin, ...figures, model: detail(word), isLate: detail(trueOrFalse), isComplete: detail(trueOrFalse) },
  response_usage: { ...origin, ...figures },
  answered: { ...keyed, outputTokens: count, promptTokens: detail(count) },
  percentage: { ...keyed, usedPercent },
  answer_text: { ...keyed, request: word, characters: length },
  estimate: { ...keyed, tokens: count },
  tool_call: { ...keyed, callId: detail(word), toolName: anyText, argument: detail(line) },
  appended: { ...keyed, characters: length },
  compacting: keyed,
  compaction: { ...origin, key: detail(shortWord), trigger, preTokens: detail(count) },
  cleared: keyed,
  unknown: keyed,
  window: { ...keyed, tokens: size, models: detail(listOf(word)) },
  auto_compact_at: { ...keyed, tokens: size },
  auto_compact_reserve: { ...keyed, tokens: size, share: detail(size) },
  model: { ...keyed, model: word },
  thread: { ...keyed, thread: word, parent: detail(word) },
  subagent_request: { ...origin, key: word },
  unmetered: { ...keyed, model: detail(word) },
}

const CHECKS = new Map(Object.entries(EVENTS).map(([type, checks]) => [type, objectOf(checks as ChecksOf<object>)]))

/**
 * The usable part of a reader's statement about a window: wrong details are left out, and an event without its figures
 * says nothing. A request without them is an answer all the same, and so is one that has no name.
 */
export const usableEvent = (event: unknown, nameless: () => string): WindowEvent | undefined => {
  const type = (event as { readonly type?: unknown } | null | undefined)?.type
  const check = typeof type === 'string' ? CHECKS.get(type) : undefined
  if (check === undefined) return undefined
  const named = type === 'request' && usable(word, (event as Of<'request'>).key) === undefined
  const read = usable(check, named ? { ...(event as object), key: nameless() } : event)
  if (read !== undefined) return { type, ...read } as WindowEvent
  return type === 'request' ? usableEvent({ ...(event as object), type: 'unmetered' }, nameless) : undefined
}
