/** What is said when a window gets fuller, in the order of it. */
export const MILESTONE_NAMES = ['warning', 'critical', 'restart'] as const

/** What is said when a window gets fuller. */
export type MilestoneName = (typeof MILESTONE_NAMES)[number]

/** A point on the way to a full window: reached at a fraction of the usable window, and signalled once per cycle. */
export interface Milestone {
  readonly name: MilestoneName | string
  readonly at: number
}

/** The milestone at which a fresh window is due. */
export const RESTART: MilestoneName = 'restart'

/**
 * Warn at half, be plain at two thirds, restart with room to spare.
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

/** What is wrong with milestones, if anything: they are fractions above 0 and up to 1, each higher than the last. */
export const milestoneProblem = (milestones: readonly Milestone[]): string | undefined => {
  if (milestones.length === 0) return 'there are none'
  const wrong = milestones.find(({ at }) => typeof at !== 'number' || !Number.isFinite(at) || at <= 0 || at > 1)
  if (wrong !== undefined) return `${String(wrong.at)} is not a fraction above 0 and up to 1`
  const step = milestones.findIndex(({ at }, index) => index > 0 && at <= (milestones[index - 1]?.at ?? 0))
  return step === -1 ? undefined : `${milestones[step]?.at} does not come after ${milestones[step - 1]?.at}`
}

/** What a pressure reaches: the highest new milestone, if any, and how far the cycle has come. */
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

/** Milestones from fractions alone: the first three have the known names, further ones a number. */
export const milestonesAt = (fractions: readonly number[]): readonly Milestone[] =>
  fractions.map((at, index) => ({ name: MILESTONE_NAMES[index] ?? `milestone ${index + 1}`, at }))
