/** The names of the built-in milestones, in their order. */
export const MILESTONE_NAMES = ['warning', 'critical', 'restart'] as const

/** The name of a built-in milestone. */
export type MilestoneName = (typeof MILESTONE_NAMES)[number]

/** A point on the way to a full window: reached at a fraction of the usable window, and signalled once per cycle. */
export interface Milestone {
  readonly name: MilestoneName | string
  readonly at: number
}

/** The milestone at which a fresh window is due. */
export const RESTART: MilestoneName = 'restart'

/** The milestone at which an agent is told to bring its work to an end that a successor can pick up. */
export const CRITICAL: MilestoneName = 'critical'

/**
 * Warn at half, warn urgently at two thirds, restart while there is still room.
 *
 * @example
 * ```ts
 * console.log(DEFAULT_MILESTONES.map(({ name, at }) => `${name} ${at}`).join(', '))
 * // => warning 0.5, critical 0.65, restart 0.85
 * ```
 */
export const DEFAULT_MILESTONES: readonly Milestone[] = [
  { name: 'warning', at: 0.5 },
  { name: 'critical', at: 0.65 },
  { name: 'restart', at: 0.85 },
]

/** The problem with milestones, if any: they are fractions above 0 and up to 1, each higher than the last. */
export const milestoneProblem = (milestones: readonly Milestone[]): string | undefined => {
  // Types alone do not stop a plain caller, and storage may hold anything.
  if (!Array.isArray(milestones) || milestones.some((one) => typeof one !== 'object' || one === null))
    return 'they are no list of names and fractions'
  if (milestones.length === 0) return 'there are none'
  const wrong = milestones.find(({ at }) => typeof at !== 'number' || !Number.isFinite(at) || at <= 0 || at > 1)
  if (wrong !== undefined) return `${String(wrong.at)} is not a fraction above 0 and up to 1`
  const step = milestones.findIndex(({ at }, index) => index > 0 && at <= (milestones[index - 1]?.at ?? 0))
  if (step !== -1) return `${milestones[step]?.at} does not come after ${milestones[step - 1]?.at}`
  const unnamed = milestones.find(({ name }) => typeof name !== 'string' || name.trim() === '' || name.length > 300)
  if (unnamed !== undefined) return `the one at ${unnamed.at} has no name`
  // A jump spends what it passes: a milestone above would spend the restart and leave it undone.
  const restart = milestones.findIndex(({ name }) => name === RESTART)
  const isLast = restart === -1 || restart === milestones.length - 1
  return isLast ? undefined : 'nothing comes after the restart'
}

/** The effect of a pressure: the highest new milestone, if any, and how far the cycle has come. */
export interface Reached {
  /** A jump over several is one signal, the highest; the others are spent with it. */
  readonly signal?: Milestone
  /** The milestones at or below this fraction are spent until the cycle begins anew. */
  readonly latchedAt: number
}

/** Which milestone a pressure reaches in a cycle that has already come as far as `latchedAt`. */
export const reach = (milestones: readonly Milestone[], pressure: number, latchedAt: number): Reached => {
  const signal = milestones.findLast(({ at }) => pressure >= at && at > latchedAt)
  return signal === undefined ? { latchedAt } : { signal, latchedAt: signal.at }
}

/** Milestones from fractions alone: up to three have the known names in order; of more, the last is the restart. */
export const milestonesAt = (fractions: readonly number[]): readonly Milestone[] =>
  fractions.map((at, index) => ({ name: nameOf(index, fractions.length), at }))

const nameOf = (index: number, count: number): string => {
  if (count <= MILESTONE_NAMES.length) return MILESTONE_NAMES[index] ?? RESTART
  if (index === count - 1) return RESTART
  return index < MILESTONE_NAMES.length - 1 ? (MILESTONE_NAMES[index] ?? RESTART) : `milestone ${index + 1}`
}
