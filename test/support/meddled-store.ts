import { FaultInjector } from '../../src/entry/testing.ts'
import type { Store } from '../../src/ports/store/store.ts'
import type { Unit } from '../../src/ports/store/unit-of-work.ts'

/** The same store, with somebody on the way who sees every commit first, and may wait or throw. The first is number 1. */
export const meddledStore = (store: Store, before: (unit: Unit, number: number) => unknown): Store => {
  const { store: copy } = new FaultInjector(store)
  let commits = 0
  return {
    ...copy,
    unitOfWork: {
      load: (question, command) => store.unitOfWork.load(question, command),
      commit: async (unit) => {
        commits += 1
        await before(unit, commits)
        return store.unitOfWork.commit(unit)
      },
      estimateNow: () => store.unitOfWork.estimateNow(),
    },
  }
}

/** Whether a commit keeps an event of this type. */
export const keeps = ({ events }: Unit, type: Unit['events'][number]['type']): boolean =>
  events.some((event) => event.type === type)
