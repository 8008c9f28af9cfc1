import type { Engine } from './engines.ts'
import { inTurn, type Measured, summed, throughput } from './measure.ts'
import type { Seat } from './seat.ts'
import { SIZES, type Size } from './sizes.ts'

/** A window that is known and never reaches a milestone here, so that each turn is evaluated and nothing is said. */
const ON = { contextLimit: 10_000_000 } as const
/** Readings are kept, and nothing is evaluated. */
const OFF = { isEnabled: false } as const

/** Recording turns with the watch over their windows on, beside off. In the figures "ours" is on and "floor" is off. */
export const measurePressure = async (engine: Engine, size: Size): Promise<readonly Measured[]> => {
  const { rounds, operations, concurrencies } = SIZES[size]
  const measured: Measured[] = []
  for (const concurrency of concurrencies[engine.name]) {
    const each = Math.max(3, Math.ceil(operations[engine.name] / Math.sqrt(concurrency)))
    const open = (monitor: object): Promise<readonly Seat[]> =>
      Promise.all(Array.from({ length: concurrency }, () => engine.ours.open(4, monitor)))
    const seats = { ours: await open(ON), floor: await open(OFF) }
    const results: Awaited<ReturnType<typeof inTurn<number>>>[] = []
    for (let round = -1; round < rounds; round += 1) {
      const result = await inTurn(Math.abs(round), (side) =>
        throughput(seats[side], concurrency, each, (seat) => seat.recordTurn()),
      )
      if (round >= 0) results.push(result)
    }
    measured.push(summed({ operation: 'record a turn', engine: engine.name, concurrency }, results))
  }
  return measured
}
