import type { Engine } from './engines.ts'
import type { Seat, Side } from './seat.ts'
import { median, spread } from './statistics.ts'

/** What one operation did at one concurrency: operations per second of each round, both sides in the same run. */
export interface Measured {
  readonly operation: string
  readonly engine: Engine['name']
  readonly concurrency: number
  readonly ours: number
  readonly floor: number
  /** Ours by the floor's, round by round, and the median of that. */
  readonly ratio: number
  readonly lowest: number
  readonly highest: number
  readonly spread: { readonly ours: number; readonly floor: number }
  readonly rounds: { readonly ours: readonly number[]; readonly floor: readonly number[] }
}

export type Act = (seat: Seat) => Promise<void>

/** Operations per second when each worker does its share, one after the other, on seats nobody else touches. */
export const throughput = async (
  seats: readonly Seat[],
  concurrency: number,
  each: number,
  act: Act,
): Promise<number> => {
  const share = Math.floor(seats.length / concurrency)
  const started = performance.now()
  const workers = Array.from({ length: concurrency }, async (_, worker) => {
    for (let turn = 0; turn < each; turn += 1) {
      const seat = seats[worker * share + (turn % share)]
      if (seat === undefined) throw new Error('A worker has no seat')
      await act(seat)
    }
  })
  await Promise.all(workers)
  return (concurrency * each * 1_000) / (performance.now() - started)
}

/** The two sides in turn, the other one first each time, so that a slow moment strikes both. */
export const inTurn = async <T>(
  round: number,
  work: (side: Side['name']) => Promise<T>,
): Promise<Readonly<Record<Side['name'], T>>> => {
  if (round % 2 === 0) {
    const ours = await work('ours')
    return { ours, floor: await work('floor') }
  }
  const floor = await work('floor')
  return { ours: await work('ours'), floor }
}

export const summed = (
  what: Pick<Measured, 'operation' | 'engine' | 'concurrency'>,
  rounds: readonly Readonly<Record<Side['name'], number>>[],
): Measured => {
  const [ours, floor] = [rounds.map((round) => round.ours), rounds.map((round) => round.floor)]
  const ratios = rounds.map((round) => round.ours / round.floor)
  return {
    ...what,
    ours: median(ours),
    floor: median(floor),
    ratio: median(ratios),
    lowest: Math.min(...ratios),
    highest: Math.max(...ratios),
    spread: { ours: spread(ours), floor: spread(floor) },
    rounds: { ours, floor },
  }
}
