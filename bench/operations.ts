import type { Engine } from './engines.ts'
import { type Act, inTurn, type Measured, summed, throughput } from './measure.ts'
import type { Seat, Side } from './seat.ts'
import { SIZES, type Size } from './sizes.ts'

type Seats = Readonly<Record<Side['name'], readonly Seat[]>>

/** Everything that is compared, in the order it is shown. */
export const OPERATIONS = [
  'record a turn',
  'snapshot',
  'initiate',
  'accept + complete',
  'active session',
  'lineage of 50 handoffs',
] as const
export type Operation = (typeof OPERATIONS)[number]

/** Which operations are wanted, how long to measure, and whom to tell. */
export interface Plan {
  readonly size: Size
  readonly wants: (operation: Operation) => boolean
  readonly progress: (line: string) => void
}

const HANDOFFS_IN_LINEAGE = 50

/** Operations that may be repeated on one seat for as long as one likes. */
const REPEATABLE: readonly { readonly operation: Operation; readonly act: Act }[] = [
  { operation: 'record a turn', act: (seat) => seat.recordTurn() },
  { operation: 'snapshot', act: (seat) => seat.snapshot() },
  { operation: 'active session', act: (seat) => seat.activeSession() },
]

/** Measures every wanted operation on an engine. */
export const measureEngine = async (engine: Engine, plan: Plan): Promise<readonly Measured[]> => {
  const concurrencies = SIZES[plan.size].concurrencies[engine.name]
  const measured: Measured[] = []
  await warmUp(engine, plan)
  for (const concurrency of concurrencies) {
    for (const { operation, act } of REPEATABLE) {
      if (!plan.wants(operation)) continue
      const seats = await openSeats(engine, concurrency, 4)
      measured.push(await measureRepeatable(engine, plan, { operation, concurrency, seats, act }))
    }
    if (plan.wants('initiate') || plan.wants('accept + complete')) {
      measured.push(...(await measureHandoffs(engine, plan, concurrency)))
    }
  }
  if (plan.wants('lineage of 50 handoffs')) measured.push(...(await measureLineage(engine, plan, concurrencies)))
  return [...measured].sort((a, b) => place(a.operation) - place(b.operation))
}

/**
 * A program that has just started runs uncompiled, and its compiler takes the server's processor time: what a call
 * costs then is four times what it costs after some thousands. Both sides work the same way through that first.
 */
const warmUp = async (engine: Engine, { size, progress }: Plan): Promise<void> => {
  const seats = await openSeats(engine, 32, 1)
  const handoffs = SIZES[size].warmUp[engine.name]
  for (const seat of [seats.ours, seats.floor]) {
    await throughput(seat, seat.length, handoffs, async (one) => {
      await one.initiate()
      await one.acceptAndComplete()
      await one.recordTurn()
      await one.snapshot()
    })
  }
  await engine.ask('analyze')
  progress(`${engine.name}: warmed up with ${32 * handoffs} handoffs on each side`)
}

const place = (operation: string): number => (OPERATIONS as readonly string[]).indexOf(operation)

const openSeats = async ({ ours, floor }: Engine, count: number, turns: number): Promise<Seats> => {
  const openAll = async (side: Side): Promise<readonly Seat[]> => {
    const seats: Seat[] = []
    while (seats.length < count) {
      const some = Math.min(count - seats.length, 32)
      seats.push(...(await Promise.all(Array.from({ length: some }, () => side.open(turns)))))
    }
    return seats
  }
  return { ours: await openAll(ours), floor: await openAll(floor) }
}

const measureRepeatable = async (
  { name: engine }: Engine,
  { size, progress }: Plan,
  work: { operation: Operation; concurrency: number; seats: Seats; act: Act; scale?: number },
): Promise<Measured> => {
  const { operation, concurrency, seats, act, scale = 1 } = work
  const { rounds, operations } = SIZES[size]
  const each = Math.max(3, Math.ceil((operations[engine] * scale) / Math.sqrt(concurrency)))
  const run = (side: Side['name'], count: number): Promise<number> => throughput(seats[side], concurrency, count, act)
  await inTurn(0, (side) => run(side, Math.ceil(each / 2)))
  const results: Awaited<ReturnType<typeof inTurn<number>>>[] = []
  for (let round = 0; round < rounds; round += 1) results.push(await inTurn(round, (side) => run(side, each)))
  const measured = summed({ operation, engine, concurrency }, results)
  progress(line(measured))
  return measured
}

/** A handoff is initiated once and completed once, so each has a seat of its own; a turn makes it ready for the next. */
const measureHandoffs = async (engine: Engine, plan: Plan, concurrency: number): Promise<readonly Measured[]> => {
  const { rounds, operations } = SIZES[plan.size]
  const each = Math.max(3, Math.ceil(operations[engine.name] / 2 / Math.sqrt(concurrency)))
  const seats = await openSeats(engine, concurrency * each, 1)
  const run = (side: Side['name'], act: Act): Promise<number> => throughput(seats[side], concurrency, each, act)
  const initiated: Awaited<ReturnType<typeof inTurn<number>>>[] = []
  const completed: typeof initiated = []
  for (let round = 0; round <= rounds; round += 1) {
    const first = await inTurn(round, (side) => run(side, (seat) => seat.initiate()))
    const second = await inTurn(round, (side) => run(side, (seat) => seat.acceptAndComplete()))
    await inTurn(round, (side) => run(side, (seat) => seat.recordTurn()))
    if (round === 0) continue // the warm-up
    initiated.push(first)
    completed.push(second)
  }
  const what = { engine: engine.name, concurrency }
  const measured = [
    summed({ operation: 'initiate', ...what }, initiated),
    summed({ operation: 'accept + complete', ...what }, completed),
  ]
  for (const one of measured) plan.progress(line(one))
  return measured
}

const measureLineage = async (
  engine: Engine,
  plan: Plan,
  concurrencies: readonly number[],
): Promise<readonly Measured[]> => {
  const one = await openSeats(engine, 1, 1)
  for (const seat of [...one.ours, ...one.floor]) {
    for (let handoff = 0; handoff < HANDOFFS_IN_LINEAGE; handoff += 1) {
      await seat.initiate()
      await seat.acceptAndComplete()
      await seat.recordTurn()
    }
  }
  await engine.ask('analyze')
  const measured: Measured[] = []
  for (const concurrency of concurrencies) {
    const seats = { ours: repeated(one.ours, concurrency), floor: repeated(one.floor, concurrency) }
    const act: Act = (seat) => seat.lineage()
    const operation = 'lineage of 50 handoffs'
    measured.push(await measureRepeatable(engine, plan, { operation, concurrency, seats, act, scale: 0.2 }))
  }
  return measured
}

/** Reading disturbs nobody, so all workers may read one conversation. */
const repeated = (seats: readonly Seat[], count: number): readonly Seat[] =>
  Array.from({ length: count }, () => seats[0]).filter((seat) => seat !== undefined)

const line = ({ engine, operation, concurrency, ours, floor, ratio }: Measured): string =>
  `${engine}, ${operation}, ${concurrency} at once: ours ${ours.toFixed(0)}/s, floor ${floor.toFixed(0)}/s, ratio ${ratio.toFixed(2)}`
