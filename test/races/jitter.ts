import type { Store } from '../../src/ports/store/store.ts'
import type { UnitOfWork } from '../../src/ports/store/unit-of-work.ts'
import { withUnitOfWork } from '../faulty-stores/wrap.ts'

/** Numbers from 0 to below 1 that come the same for the same seed. */
export const randomFrom = (seed: number): (() => number) => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** The items in some other order. */
export const shuffled = <T>(items: readonly T[], random: () => number): readonly T[] =>
  items
    .map((item) => ({ item, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item)

const over = (store: Store, unitOfWork: UnitOfWork): Store => withUnitOfWork(store, unitOfWork)

/** The same store, slow by a random number of ticks before each read and each write, so that callers overtake. */
export const jittered = (store: Store, random: () => number): Store => {
  const wait = async (): Promise<void> => {
    for (let ticks = Math.floor(random() * 6); ticks > 0; ticks -= 1) await undefined
  }
  return over(store, {
    load: async (question, command) => {
      await wait()
      return store.unitOfWork.load(question, command)
    },
    estimateNow: () => store.unitOfWork.estimateNow(),
    commit: async (unit) => {
      await wait()
      return store.unitOfWork.commit(unit)
    },
  })
}

/** The same store, where something else happens between the first read and the first write that follows it. */
export const interrupted = (store: Store, meanwhile: () => Promise<void>): Store => {
  let happened = false
  return over(store, {
    load: (question, command) => store.unitOfWork.load(question, command),
    estimateNow: () => store.unitOfWork.estimateNow(),
    commit: async (unit) => {
      if (!happened) {
        happened = true
        await meanwhile()
      }
      return store.unitOfWork.commit(unit)
    },
  })
}
