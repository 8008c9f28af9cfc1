import { DEFAULT_MILESTONES, MILESTONE_NAMES, type Milestone, RESTART } from '../../domain/window/milestone.ts'

/** Where a value stands in a configuration. */
export type SettingPath = readonly (string | number)[]

/** The claim of one key about one milestone; null switches it off. */
export interface MilestoneClaim {
  readonly path: SettingPath
  readonly name: string
  readonly at: number | null
}

/** A milestone as it is in force. */
export interface MilestoneSetting {
  readonly name: string
  readonly at: number | null
  /** The keys that say so; none for a default. */
  readonly paths: readonly SettingPath[]
}

/** Something that is wrong, and what to do about it. */
export interface FoundProblem {
  readonly path: SettingPath
  readonly problem: string
  readonly advice: string
}

/** The sum of all claims. */
export interface SettledMilestones {
  readonly settings: readonly MilestoneSetting[]
  readonly remarks: readonly string[]
}

/** A path as people write it: `session.context_threshold`, `milestones[0]`. */
export const pathText = (path: SettingPath): string =>
  path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`))
    .join('')
    .replace(/^\./, '')

/** The claims that contradict an earlier one about the same milestone, each naming both keys. */
export const conflictsIn = (claims: readonly MilestoneClaim[]): readonly FoundProblem[] =>
  claims.flatMap((claim, index) => {
    const first = claims.slice(0, index).find(({ name }) => name === claim.name)
    if (first === undefined || first.at === claim.at) return []
    const [one, other] = [pathText(first.path), pathText(claim.path)]
    return [
      {
        path: claim.path,
        problem: `it puts the ${claim.name} milestone ${positionText(claim.at)}, and ${one} puts it ${positionText(first.at)}`,
        advice: `Keep ${one} or ${other}, not both.`,
      },
    ]
  })

/** The milestones in force: the written ones, and defaults elsewhere. A list is complete, so it leaves no defaults. */
export const settleMilestones = (claims: readonly MilestoneClaim[], isList: boolean): SettledMilestones => {
  const further = claims.map(({ name }) => name).filter((name) => name !== RESTART)
  const names = new Set<string>([...MILESTONE_NAMES.filter((name) => name !== RESTART), ...further, RESTART])
  const settings = [...names].map((name) => settingOf(name, claims, isList))
  const yielding = settings.filter((setting, index) => isDefault(setting) && mustYield(setting, settings.slice(index)))
  return {
    settings: settings.map((setting) => (yielding.includes(setting) ? { ...setting, at: null } : setting)),
    remarks: yielding.map(
      ({ name, at }) => `The ${name} milestone is off: its default, ${at}, does not come before a later one you set.`,
    ),
  }
}

/** Problems with the order of the milestones in force. */
export const orderProblems = (settings: readonly MilestoneSetting[]): readonly FoundProblem[] => {
  const inForce = settings.filter((setting) => setting.at !== null)
  if (inForce.length === 0) return [ALL_OFF]
  return inForce.flatMap((later, index) => {
    const earlier = inForce[index - 1]
    if (earlier === undefined || (later.at ?? 0) > (earlier.at ?? 0)) return []
    return [
      {
        path: later.paths[0] ?? earlier.paths[0] ?? [],
        problem: `${described(later)} does not come after ${described(earlier)}`,
        advice: 'Make each milestone higher than the one before it, or switch one off with null.',
      },
    ]
  })
}

/** The milestones in force, as the monitor takes them. */
export const milestonesInForce = (settings: readonly MilestoneSetting[]): readonly Milestone[] =>
  settings.flatMap(({ name, at }) => (at === null ? [] : [{ name, at }]))

const ALL_OFF: FoundProblem = {
  path: ['milestones'],
  problem: 'every milestone is switched off',
  advice: 'Keep at least one, or write context_monitor.enabled: false.',
}

const settingOf = (name: string, claims: readonly MilestoneClaim[], isList: boolean): MilestoneSetting => {
  const claimsOfIt = claims.filter((claim) => claim.name === name)
  const [first] = claimsOfIt
  if (first !== undefined) return { name, at: first.at, paths: claimsOfIt.map(({ path }) => path) }
  if (isList) return { name, at: null, paths: [['milestones']] }
  return { name, at: DEFAULT_MILESTONES.find((milestone) => milestone.name === name)?.at ?? null, paths: [] }
}

const isDefault = ({ paths }: MilestoneSetting): boolean => paths.length === 0

/** Somebody who only sets an early restart has not asked for warnings after it. The reverse is refused, not guessed. */
const mustYield = ({ at }: MilestoneSetting, later: readonly MilestoneSetting[]): boolean =>
  later.some((other) => !isDefault(other) && other.at !== null && at !== null && at >= other.at)

const positionText = (at: number | null): string => (at === null ? 'off' : `at ${at}`)

const described = ({ name, at, paths }: MilestoneSetting): string =>
  `${name} (${at}${paths.length === 0 ? ', the default' : ''})`
