import { type MonitorSettings, PRESSURE_POLICIES } from '../window/context-monitor.ts'
import { WINDOW_SOURCES, type WindowParts, type WindowSize } from '../window/context-pressure.ts'
import { type Milestone, milestoneProblem } from '../window/milestone.ts'
import type { MonitorReport } from '../window/monitor-reports.ts'
import {
  READING_SEMANTICS,
  UNKNOWN_USAGE,
  type UsageProvenance,
  type UsageReading,
  type UsageTotals,
} from '../window/usage-reading.ts'
import { COMPACTION_TRIGGERS } from '../window/window-event.ts'
import {
  absent,
  amount,
  type Check,
  listOf,
  noteProblem,
  objectOf,
  oneOf,
  optional,
  trueOrFalse,
  wholeNumber,
} from './check.ts'
import { moment, name } from './words.ts'

const count = wholeNumber(0)

type Metered = Extract<UsageReading, { state: 'metered' }>

const provenance = objectOf<UsageProvenance>({ runtime: name, source: name, semantics: oneOf(...READING_SEMANTICS) })

const metered = objectOf<Metered>({
  state: oneOf('metered'),
  promptTokens: count,
  outputTokens: count,
  pendingTokens: optional(count),
  provenance: optional(provenance),
})

type Percentage = Extract<UsageReading, { state: 'percentage' }>

/** A figure above this is no percentage of a window. */
const MOST_PERCENT = 1_000

/** How full a window is, of a hundred. */
export const usedPercent = amount(0, MOST_PERCENT)

const percentage = objectOf<Percentage>({
  state: oneOf('percentage'),
  usedPercent,
  provenance: optional(provenance),
})

/** One of several shapes, told apart by a word: what reads the word may be read only once. */
const wordOf = (value: unknown, property: string): unknown => {
  try {
    return (value as Record<string, unknown> | null | undefined)?.[property]
  } catch {
    return undefined
  }
}

/** A reading of a window. A sum over requests is none, and is not taken for an unknown one either. */
export const reading: Check<UsageReading> = (value, field, problems) => {
  const state = wordOf(value, 'state')
  if (state === 'unknown') return UNKNOWN_USAGE
  if (state === 'metered') return metered(value, field, problems)
  if (state === 'percentage') return percentage(value, field, problems)
  const problem =
    'it is neither unknown, metered nor a percentage; a sum over requests is no reading. Leave it out when it is unknown'
  return noteProblem(value === undefined ? 'it is missing' : problem, field, problems)
}

const tokens: Check<number> = (value, field, problems) =>
  typeof value === 'number' && Number.isFinite(value)
    ? value
    : noteProblem(absent(value, 'a number of tokens'), field, problems)

/** The known sizes of a window. None is fine: unknown is a state. */
export const windowParts = objectOf<WindowParts>({
  hardLimit: optional(objectOf<WindowSize>({ tokens, source: oneOf(...WINDOW_SOURCES) })),
  configuredLimit: optional(tokens),
  autoCompactAt: optional(tokens),
  compactedAt: optional(tokens),
})

const milestones: Check<readonly Milestone[]> = (value, field, problems) => {
  const before = problems.length
  const read = listOf(objectOf<Milestone>({ name, at: amount(0, 1) }), { most: 100 })(value, field, problems)
  if (problems.length > before) return read
  const problem = milestoneProblem(read)
  return problem === undefined ? read : noteProblem(problem, field, problems)
}

/** The choices for a monitor. */
export const monitorSettings = objectOf<MonitorSettings>({
  isEnabled: optional(trueOrFalse),
  policy: optional(oneOf(...PRESSURE_POLICIES)),
  milestones: optional(milestones),
  contextLimit: optional(wholeNumber(1)),
})

type Reported<Type extends MonitorReport['type']> = Extract<MonitorReport, { type: Type }>

const producedAt = optional(moment)

const REPORTS = {
  sample: objectOf<Reported<'sample'>>({ type: oneOf('sample'), reading, window: optional(windowParts), producedAt }),
  compacting: objectOf<Reported<'compacting'>>({ type: oneOf('compacting'), producedAt }),
  compaction: objectOf<Reported<'compaction'>>({
    type: oneOf('compaction'),
    trigger: oneOf(...COMPACTION_TRIGGERS),
    preTokens: optional(count),
    key: optional(name),
    producedAt,
  }),
  cleared: objectOf<Reported<'cleared'>>({ type: oneOf('cleared'), producedAt }),
} as const satisfies { [Type in MonitorReport['type']]: Check<Reported<Type>> }

/** A report about a window. */
export const monitorReport: Check<MonitorReport> = (value, field, problems) => {
  const type = wordOf(value, 'type')
  if (typeof type === 'string' && Object.hasOwn(REPORTS, type))
    return REPORTS[type as keyof typeof REPORTS](value, field, problems)
  const problem = `its type is not one of ${Object.keys(REPORTS).join(', ')}`
  return noteProblem(value === undefined ? 'it is missing' : problem, field, problems)
}

/** More than any work has cost, and far from where sums of numbers stop being exact. */
const MAX_COST_USD = 1_000_000_000

/** A number of dollars. */
export const dollars = amount(0, MAX_COST_USD)

/** The totals of a session. */
export const totals = objectOf<UsageTotals>({
  inputTokens: count,
  outputTokens: count,
  requests: optional(count),
  cacheReadTokens: optional(count),
  cacheWriteTokens: optional(count),
  costUsd: optional(dollars),
  estimatedUsd: optional(dollars),
})
