import { openSeat, type Services } from '../ours.ts'
import type { Side } from '../seat.ts'
import { FloorSeat } from './floor-seat.ts'
import type { Run } from './statement.ts'
import { statementsIn } from './statements.ts'

/** The floor, in a schema of its own that the same migrations made. Its conversations are opened by the library. */
export const floor = (opener: Services, schema: string, run: Run): Side => {
  const statements = statementsIn(schema)
  return {
    name: 'floor',
    open: async (turns) => {
      const seat = new FloorSeat(run, statements, (await openSeat(opener, 0)).working)
      for (let turn = 0; turn < turns; turn += 1) await seat.recordTurn()
      return seat
    },
  }
}
