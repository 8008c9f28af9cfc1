import type { Heard } from './writer.ts'

/** When a failover happened, in milliseconds. */
export interface Round {
  readonly killedAt: number
  readonly promotedAt: number
  /** Wake-ups were heard again. */
  readonly wokenAt: number
}

/** What one failover has cost. */
export interface RoundOutcome {
  readonly round: number
  /** Seconds from the kill: until the standby was promoted, until a writer's next command was acknowledged, the last writer's too. */
  readonly promoted: number
  readonly firstTurn: number
  readonly everyWriter: number
  /** Until a worker had claimed a handoff, and until wake-ups were heard again. */
  readonly firstClaim: number
  readonly woken: number
  /** Turns that were acknowledged since the failover before, and are not there any more. */
  readonly lost: number
  /** Writers that were told so. */
  readonly toldSetBack: number
}

/** What writers have heard against what is on record: their texts, as often as each is there. */
export interface Reckoning {
  readonly acknowledged: number
  readonly lost: readonly string[]
  readonly doubled: readonly string[]
}

/** Looks for everything that was acknowledged. */
export const reckon = ({ acknowledged }: Heard, recorded: readonly string[]): Reckoning => {
  const counts = new Map<string, number>()
  for (const text of recorded) counts.set(text, (counts.get(text) ?? 0) + 1)
  return {
    acknowledged: acknowledged.length,
    lost: acknowledged.flatMap(({ text }) => (counts.has(text) ? [] : [text])),
    doubled: [...counts].flatMap(([text, count]) => (count > 1 ? [text] : [])),
  }
}

/** The outcome of each failover, from what everybody has heard. */
export const outcomesOf = (
  rounds: readonly Round[],
  { acknowledged, told }: Heard,
  { lost, claims }: { readonly lost: readonly string[]; readonly claims: readonly number[] },
): readonly RoundOutcome[] => {
  const gone = new Set(lost)
  return rounds.map(({ killedAt, promotedAt, wokenAt }, index) => {
    const [before, after] = [rounds[index - 1]?.killedAt ?? 0, rounds[index + 1]?.killedAt ?? Number.POSITIVE_INFINITY]
    // What was given before the kill may have been answered before it, and read after it.
    const given = acknowledged.filter(({ began }) => began > killedAt && began < after)
    const firsts = new Map<number, number>()
    for (const { writer, at } of given) firsts.set(writer, Math.min(at, firsts.get(writer) ?? at))
    const seconds = (at: number): number => Math.round((at - killedAt) / 10) / 100
    const claim = Math.min(...claims.filter((at) => at > killedAt))
    const setBack = told.filter(({ code, at }) => code === 'store.set_back' && at > killedAt && at < after)
    return {
      round: index + 1,
      promoted: seconds(promotedAt),
      firstTurn: seconds(Math.min(...firsts.values())),
      everyWriter: seconds(Math.max(...firsts.values())),
      firstClaim: seconds(claim),
      woken: seconds(wokenAt),
      lost: acknowledged.filter(({ text, began }) => gone.has(text) && began > before && began <= killedAt).length,
      toldSetBack: new Set(setBack.map(({ writer }) => writer)).size,
    }
  })
}

const HEADS: readonly (readonly [keyof RoundOutcome, string])[] = [
  ['round', 'failover'],
  ['promoted', 'promoted'],
  ['firstTurn', 'first turn'],
  ['everyWriter', 'every writer'],
  ['firstClaim', 'first claim'],
  ['woken', 'woken again'],
  ['lost', 'acknowledged, lost'],
  ['toldSetBack', 'writers told'],
]

/** The outcomes as a table; times are seconds from the kill. */
export const tableOf = (outcomes: readonly RoundOutcome[]): string => {
  const rows = outcomes.map((outcome) => HEADS.map(([key]) => String(outcome[key])))
  const lines = [HEADS.map(([, head]) => head), HEADS.map(([, head]) => '-'.repeat(head.length)), ...rows]
  return lines
    .map((line) => `| ${line.map((cell, at) => cell.padStart(HEADS[at]?.[1].length ?? 0)).join(' | ')} |`)
    .join('\n')
}
