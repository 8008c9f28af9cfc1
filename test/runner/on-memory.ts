import { afterEach, beforeEach } from 'vitest'
import { systemClock } from '../../src/entry/container.ts'
import { type Batonpass, createBatonpass } from '../../src/entry/index.ts'
import { MemoryStore } from '../../src/entry/memory.ts'

/** A Batonpass on a store in memory, new for each test of a file. */
export interface OnMemory {
  readonly batonpass: Batonpass
  readonly store: MemoryStore
}

/** Makes one before each test, and closes it after. `take` gets it, for the variables of the file. */
export const onMemory = (take: (made: OnMemory) => void): void => {
  let made: OnMemory | undefined
  beforeEach(async () => {
    const store = new MemoryStore({ clock: systemClock })
    made = { store, batonpass: await createBatonpass({ store }) }
    take(made)
  })
  afterEach(() => made?.batonpass.close())
}
