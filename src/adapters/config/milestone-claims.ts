import { MILESTONE_NAMES, milestonesAt } from '../../domain/window/milestone.ts'
import { type FoundProblem, type MilestoneClaim, pathText, type SettingPath } from './milestone-settings.ts'
import { formOf, fraction, list, percentage, remaining, rounded, section, usedOrNever } from './values.ts'

/** The milestones as a list of fractions. */
export const milestoneList = list(fraction, '[0.5, 0.65, 0.85]')

/** The milestones by name. */
export const milestonesByName = section({
  warning: fraction.nullable().optional(),
  critical: fraction.nullable().optional(),
  restart: fraction.nullable().optional(),
})

/** The milestones in either form. */
export const milestonesSchema = formOf(Array.isArray, milestoneList, milestonesByName)

/** The keys of a session that say at which point its window is restarted: as what remains, or as what is used. */
export const sessionThresholds = {
  context_threshold: remaining.optional(),
  context_handoff_threshold: remaining.optional(),
  context_restart_threshold: usedOrNever.optional(),
}

/** The same without a section around it. */
export const restartThreshold = { context_restart_threshold: sessionThresholds.context_restart_threshold }

/** Two milestones as percentages. */
export const monitorPercentages = {
  warning_percentage: percentage.optional(),
  critical_percentage: percentage.optional(),
}

type Reader =
  | typeof fraction
  | typeof sessionThresholds.context_threshold
  | typeof restartThreshold.context_restart_threshold

const REMAINING_THRESHOLDS = ['context_handoff_threshold', 'context_threshold'] as const
const RESTART_THRESHOLDS: readonly SettingPath[] = [
  ['session', 'context_restart_threshold'],
  ['context_restart_threshold'],
]

/** The keys people know from elsewhere, and what each says. */
const ALIASES: readonly (readonly [path: SettingPath, name: string, reader: Reader])[] = [
  [['context_monitor', 'warning_percentage'], 'warning', monitorPercentages.warning_percentage],
  [['context_monitor', 'critical_percentage'], 'critical', monitorPercentages.critical_percentage],
  [['session', 'context_threshold'], 'restart', sessionThresholds.context_threshold],
  [['session', 'context_handoff_threshold'], 'restart', sessionThresholds.context_handoff_threshold],
  ...RESTART_THRESHOLDS.map((path) => [path, 'restart', restartThreshold.context_restart_threshold] as const),
]

/** The claims of a content about milestones, key by key. */
export interface MilestoneClaims {
  readonly claims: readonly MilestoneClaim[]
  readonly isList: boolean
  /** Whether some key's value could not be read, so that the rest is not the whole picture. */
  readonly isPartial: boolean
}

/**
 * Reads the claims one by one, so that two that contradict each other are found beside whatever else is wrong.
 *
 * @param base where the keys stand: nowhere for the whole content, `agents[0]` for an agent
 */
export const milestoneClaims = (content: unknown, base: SettingPath = []): MilestoneClaims => {
  const list = valueAt(content, [...base, 'milestones'])
  const isList = Array.isArray(list)
  const names = isList ? milestonesAt(list).map(({ name }) => name) : MILESTONE_NAMES
  const canonical = names.map((name, index) => [['milestones', isList ? index : name], name, fraction] as const)
  const read = [...canonical, ...ALIASES].map(([path, name, reader]) =>
    claimAt(content, [...base, ...path], name, reader),
  )
  return {
    claims: read.filter((claim) => claim !== undefined && claim !== 'unreadable'),
    isList,
    isPartial: read.includes('unreadable') || !isUsable(list),
  }
}

/** An empty list, or something else altogether, is reported for what it is. */
const isUsable = (milestones: unknown): boolean =>
  milestones === undefined ||
  (typeof milestones === 'object' && milestones !== null && !(Array.isArray(milestones) && milestones.length === 0))

const claimAt = (
  content: unknown,
  path: SettingPath,
  name: string,
  reader: Reader,
): MilestoneClaim | 'unreadable' | undefined => {
  const raw = valueAt(content, path)
  if (raw === undefined) return undefined
  if (raw === null && path.at(-2) === 'milestones') return { path, name, at: null }
  const read = reader.safeParse(raw)
  return read.success && read.data !== undefined ? { path, name, at: read.data } : 'unreadable'
}

/** One threshold says what remains and the other what is used: a file with both has mistaken one of them. */
export const thresholdProblems = (content: unknown, base: SettingPath = []): readonly FoundProblem[] => {
  const key = REMAINING_THRESHOLDS.find((name) => valueAt(content, [...base, 'session', name]) !== undefined)
  if (key === undefined) return []
  const left = valueAt(content, [...base, 'session', key])
  const remains =
    typeof left === 'number' && left < 1 ? `${left}, which restarts at ${rounded(1 - left)}` : 'a fraction'
  return RESTART_THRESHOLDS.flatMap((path) => {
    const used = valueAt(content, [...base, ...path])
    if (used === undefined) return []
    const uses = typeof used === 'number' ? usedText(used) : 'a fraction'
    return [
      {
        path: [...base, ...path],
        problem: `${path.length === 1 ? `session.${key}` : key} is there as well, and both are about the restart`,
        advice: `Keep one. ${key} is what remains (${remains}); context_restart_threshold is what is used (${uses}).`,
      },
    ]
  })
}

const usedText = (used: number): string =>
  used > 1 ? `${used}, which never restarts` : `${used}, which restarts there`

/** A remark about each threshold that means never. */
export const thresholdRemarks = (content: unknown, base: SettingPath = []): readonly string[] =>
  RESTART_THRESHOLDS.flatMap((path) => {
    const used = valueAt(content, [...base, ...path])
    if (typeof used !== 'number' || used <= 1) return []
    const correction = used >= 10 && used <= 100 ? ` Write ${rounded(used / 100)} if ${used} % was meant.` : ''
    return [`${pathText([...base, ...path])} is ${used}, above 1: a full window is never restarted.${correction}`]
  })

/** The value at a path, through own keys only. */
const valueAt = (content: unknown, path: SettingPath): unknown =>
  path.reduce<unknown>(
    (node, key) =>
      typeof node === 'object' && node !== null && Object.hasOwn(node, key)
        ? (node as Readonly<Record<string | number, unknown>>)[key]
        : undefined,
    content,
  )
