import type { Chance } from '../chaos/chance.ts'
import { wait } from '../chaos/faults/fault.ts'
import type { OwnServer } from '../chaos/faults/own-server.ts'
import type { FleetCrew } from './crew.ts'

/** The faults that were injected so far. */
export interface FleetFaults {
  crashes: number
  restarts: number
}

/** Who is disturbed, and how. */
export interface Disturbed {
  readonly crew: FleetCrew
  readonly server: OwnServer
  readonly chance: Chance
  readonly leaseMs: number
  readonly faults: FleetFaults
}

/** Kills workers, stops others for longer than a lease, and restarts the server, all at the same time, until the signal aborts. */
export const disturb = async (
  { crew, server, chance, leaseMs, faults }: Disturbed,
  signal: AbortSignal,
): Promise<void> => {
  const again = async (least: number, more: number, act: () => Promise<void> | void): Promise<void> => {
    while (!signal.aborted) {
      for (let left = least + chance.below(more); left > 0 && !signal.aborted; left -= 200)
        await wait(Math.min(200, left))
      if (!signal.aborted) await act()
    }
  }
  await Promise.all([
    again(800, 1_600, () => crew.kill(chance)),
    again(1_500, 2_500, () => crew.stopFor(chance, Math.round(leaseMs * (1.2 + chance.next())))),
    again(2_500, 4_000, async () => {
      if (chance.happens(0.5)) {
        faults.restarts += 1
        await server.restart()
      } else {
        faults.crashes += 1
        await server.crash(chance.happens(0.3) ? 500 + chance.below(2_000) : 0)
      }
    }),
  ])
  await server.revive()
}
