import type { Store } from '../../src/ports/store/store.ts'
import type { UnitOfWork } from '../../src/ports/store/unit-of-work.ts'
import { type Plan, POINTS, type Point } from './kill-point.ts'

/** Ends, or stops, this very process where its plan says so. */
export interface Killer {
  /** The same store, with the killer around its commits. */
  around(store: Store): Store
  inside(moment: 'launching' | 'asking'): Promise<void>
}

const NEVER = new Promise<never>(() => undefined)

/** Sends the signal where the plan says so. After SIGKILL nothing comes; after SIGSTOP the process goes on one day. */
export const killerFor = (plan: Plan, signal: 'SIGKILL' | 'SIGSTOP'): Killer => {
  const point: Point = POINTS[plan.point]
  let left = plan.occurrence
  const strike = async (): Promise<void> => {
    process.kill(process.pid, signal)
    if (signal === 'SIGKILL') await NEVER
  }
  const isHit = (times: number): boolean => {
    const isReached = left > 0 && left <= times
    left -= times
    return isReached
  }
  const commit =
    (unitOfWork: UnitOfWork): UnitOfWork['commit'] =>
    async (unit) => {
      if (!('event' in point)) return unitOfWork.commit(unit)
      const { when, event: type, is = () => true } = point
      const times = unit.events.filter((event) => event.type === type && is(event)).length
      if (times === 0 || !isHit(times)) return unitOfWork.commit(unit)
      if (when === 'before') await strike()
      const committed = unitOfWork.commit(unit)
      if (when === 'while') {
        // Sent, and perhaps kept; the seed says how long the server has had it.
        await new Promise((resolve) => setTimeout(resolve, plan.seed % 4))
        await strike()
      }
      const outcome = await committed
      if (when === 'after') await strike()
      return outcome
    }
  return {
    around: (store) => {
      const { unitOfWork } = store
      const load: UnitOfWork['load'] = (question, command) => unitOfWork.load(question, command)
      const wrapped = { load, estimateNow: () => unitOfWork.estimateNow(), commit: commit(unitOfWork) }
      return { ...store, unitOfWork: wrapped, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() }
    },
    inside: async (moment) => {
      if (point.when === moment && isHit(1)) await strike()
    },
  }
}
