import { type MonitorSettings, PRESSURE_POLICIES } from './context-monitor.ts'
import { WINDOW_SOURCES, type WindowParts } from './context-pressure.ts'
import { type Instant, instantIn } from './instant.ts'
import { MESSAGE_ROLES } from './message.ts'
import { milestoneProblem } from './milestone.ts'
import type { MonitorReport } from './monitor-reports.ts'
import type { Refusal } from './refusal.ts'
import type { MessageInput, TurnInput } from './turn.ts'
import { READING_SEMANTICS, type UsageReading, type UsageTotals } from './usage-reading.ts'
import { COMPACTION_TRIGGERS } from './window-event.ts'

/** Names and keys are looked up by index, which takes no more than this whatever the alphabet. */
const MAX_NAME_LENGTH = 300

/** Far more than a window holds, and well below what a database takes. */
const MAX_TEXT_LENGTH = 16_777_216

const TEXT_FIELDS: ReadonlySet<string> = new Set([
  'originalTask',
  'prompt',
  'reason',
  'continuation',
  'text',
  'document',
])

/** A refusal for each of these fields that is blank or too long. An absent one is fine. */
export const fieldProblems = (fields: Readonly<Record<string, string | undefined>>): readonly Refusal[] =>
  Object.entries(fields).flatMap(([field, value]): Refusal[] => {
    if (value === undefined) return []
    if (typeof value !== 'string') return [invalid(field, 'it is not text')]
    if (value.trim() === '') return [{ code: 'input.blank', field }]
    const most = TEXT_FIELDS.has(field) ? MAX_TEXT_LENGTH : MAX_NAME_LENGTH
    return value.length > most ? [invalid(field, `it has ${value.length} characters, and ${most} is the most`)] : []
  })

/** What is wrong with a turn as reported, if anything. Reports are untrusted: types alone do not stop a plain caller. */
export const turnProblem = ({ messages, usage, window, producedAt }: TurnInput): Refusal | undefined => {
  if (messages.length === 0) return invalid('turn', 'it has no messages')
  return (
    (usage === undefined ? undefined : readingProblem(usage)) ??
    (window && windowProblem(window)) ??
    timeProblem(producedAt) ??
    messages.map(messageProblem).find((problem) => problem !== undefined)
  )
}

/** What is wrong with a reading, if anything. */
const readingProblem = (usage: UsageReading): Refusal | undefined => {
  if (usage?.state === 'unknown') return undefined
  if (usage?.state !== 'metered')
    return invalid('usage', 'it is neither unknown nor metered; a sum over requests is no reading')
  const { promptTokens, outputTokens, pendingTokens = 0, provenance } = usage
  if (![promptTokens, outputTokens, pendingTokens].every(isCount))
    return invalid('usage', 'token counts are whole numbers from 0 up; leave usage out when it is unknown')
  if (provenance === undefined) return undefined
  const { runtime, source, semantics } = provenance
  if (!READING_SEMANTICS.includes(semantics))
    return invalid('usage', `its semantics are none of ${READING_SEMANTICS.join(', ')}`)
  return fieldProblems({ runtime, source })[0]
}

/** What is wrong with what is said of a window, if anything. Nothing said is fine: unknown is a state. */
const windowProblem = ({ hardLimit, configuredLimit, autoCompactAt }: WindowParts): Refusal | undefined => {
  const sizes = [hardLimit?.tokens, configuredLimit, autoCompactAt]
  if (sizes.some((tokens) => tokens !== undefined && !Number.isFinite(tokens)))
    return invalid('window', 'a window is a number of tokens; leave out what is unknown')
  return hardLimit === undefined || WINDOW_SOURCES.includes(hardLimit.source)
    ? undefined
    : invalid('window', `its source is none of ${WINDOW_SOURCES.join(', ')}`)
}

/** What is wrong with a report, if anything. */
export const reportProblem = (report: MonitorReport): Refusal | undefined => {
  switch (report.type) {
    case 'sample':
      return readingProblem(report.reading) ?? windowProblem(report.window ?? {}) ?? timeProblem(report.producedAt)
    case 'compaction': {
      const { trigger, preTokens = 0, key, producedAt } = report
      if (!COMPACTION_TRIGGERS.includes(trigger))
        return invalid('report', `its trigger is none of ${COMPACTION_TRIGGERS.join(', ')}`)
      if (!isCount(preTokens)) return invalid('report', 'its preTokens are no whole number from 0 up')
      return fieldProblems({ key })[0] ?? timeProblem(producedAt)
    }
    case 'compacting':
    case 'cleared':
      return timeProblem(report.producedAt)
    default:
      return invalid('report', 'its type is not one of sample, compacting, compaction, cleared')
  }
}

const timeProblem = (producedAt: Instant | undefined): Refusal | undefined =>
  producedAt === undefined || instantIn(producedAt) === producedAt
    ? undefined
    : invalid('producedAt', 'it is no moment such as 2026-11-16T03:45:34.123Z')

/** The longest a holder may be silent: one day. */
const MAX_LEASE_MS = 86_400_000

/** What is wrong with a lease, if anything. */
export const leaseProblem = (leaseMs: number | undefined): Refusal | undefined =>
  leaseMs === undefined || (Number.isSafeInteger(leaseMs) && leaseMs > 0 && leaseMs <= MAX_LEASE_MS)
    ? undefined
    : invalid('leaseMs', `it is a whole number of milliseconds from 1 to ${MAX_LEASE_MS}`)

/** What is wrong with what a session is said to have used, if anything. */
export const totalsProblem = ({
  inputTokens,
  outputTokens,
  requests = 0,
  costUsd = 0,
}: UsageTotals): Refusal | undefined =>
  [inputTokens, outputTokens, requests].every(isCount) && Number.isFinite(costUsd) && costUsd >= 0
    ? undefined
    : invalid('totals', 'tokens and requests are whole numbers from 0 up, and the cost is a number of dollars')

/** What is wrong with the choices for a monitor, if anything. */
export const monitorProblem = (settings: MonitorSettings): Refusal | undefined => {
  const { isEnabled, policy, milestones, contextLimit } = settings
  if (isEnabled !== undefined && typeof isEnabled !== 'boolean')
    return invalid('isEnabled', 'it is neither true nor false')
  if (policy !== undefined && !PRESSURE_POLICIES.includes(policy))
    return invalid('policy', `"${String(policy)}" is not one of ${PRESSURE_POLICIES.join(', ')}`)
  if (contextLimit !== undefined && !(Number.isSafeInteger(contextLimit) && contextLimit > 0))
    return invalid('contextLimit', 'it is a whole number of tokens above 0')
  const problem = milestones === undefined ? undefined : milestoneProblem(milestones)
  return problem === undefined ? undefined : invalid('milestones', problem)
}

const messageProblem = (message: MessageInput): Refusal | undefined => {
  if (!MESSAGE_ROLES.includes(message.role)) {
    return invalid('message', `its role is "${String(message.role)}", not one of ${MESSAGE_ROLES.join(', ')}`)
  }
  const calls = 'toolCalls' in message ? (message.toolCalls ?? []) : []
  if (message.role !== 'assistant' && calls.length > 0)
    return invalid('message', 'only an assistant message calls tools')
  const ids = calls.map(({ callId }) => callId)
  const twice = ids.find((id, index) => ids.indexOf(id) !== index)
  if (twice !== undefined) return invalid('message', `it has the tool call "${twice}" twice`)
  if (message.text.length > MAX_TEXT_LENGTH)
    return invalid('message', `its text is longer than ${MAX_TEXT_LENGTH} characters`)
  return calls.flatMap(({ callId, toolName }) => fieldProblems({ callId, toolName }))[0]
}

export const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0

const invalid = (field: string, problem: string): Refusal => ({ code: 'input.invalid', field, problem })
