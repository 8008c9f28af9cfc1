import { MILESTONE_NAMES, milestonesAt } from '../../domain/milestone.ts'
import type { MilestoneClaim, SettingPath } from '../../domain/milestone-settings.ts'
import { fraction, percentage, remaining } from './values.ts'

type Reader = typeof fraction

/** The keys people know from elsewhere, and what each says. */
const ALIASES: readonly (readonly [path: SettingPath, name: string, reader: Reader])[] = [
  [['context_monitor', 'warning_percentage'], 'warning', percentage],
  [['context_monitor', 'critical_percentage'], 'critical', percentage],
  [['session', 'context_threshold'], 'restart', remaining],
]

/** What a content says about milestones, key by key. */
export interface MilestoneClaims {
  readonly claims: readonly MilestoneClaim[]
  readonly isList: boolean
  /** Whether some key's value could not be read, so that the rest is not the whole picture. */
  readonly isPartial: boolean
}

/** Reads the claims one by one, so that two that contradict each other are found beside whatever else is wrong. */
export const milestoneClaims = (content: unknown): MilestoneClaims => {
  const list = valueAt(content, ['milestones'])
  const isList = Array.isArray(list)
  const names = isList ? milestonesAt(list).map(({ name }) => name) : MILESTONE_NAMES
  const canonical = names.map((name, index) => [['milestones', isList ? index : name], name, fraction] as const)
  const read = [...canonical, ...ALIASES].map(([path, name, reader]) => claimAt(content, path, name, reader))
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
  if (raw === null && path[0] === 'milestones') return { path, name, at: null }
  const read = reader.safeParse(raw)
  return read.success ? { path, name, at: read.data } : 'unreadable'
}

/** What stands at a path, through own keys only. */
const valueAt = (content: unknown, path: SettingPath): unknown =>
  path.reduce<unknown>(
    (node, key) =>
      typeof node === 'object' && node !== null && Object.hasOwn(node, key)
        ? (node as Readonly<Record<string | number, unknown>>)[key]
        : undefined,
    content,
  )
