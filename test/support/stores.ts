import { MemoryStore } from '../../src/memory.ts'
import { FixedClock, type StoreUnderTest } from '../../src/testing/index.ts'

/** Every store the whole suite runs on. */
export const STORE_KINDS = ['memory'] as const

/** Which store a test runs on. */
export type StoreKind = (typeof STORE_KINDS)[number]

const OPEN: Readonly<Record<StoreKind, () => Promise<StoreUnderTest>>> = {
  memory: async () => {
    const clock = new FixedClock()
    return { store: new MemoryStore({ clock }), passTime: async (milliseconds) => clock.advance(milliseconds) }
  },
}

/** Opens a store. It may already hold what other tests left there. */
export const openStore = (kind: StoreKind): Promise<StoreUnderTest> => OPEN[kind]()
