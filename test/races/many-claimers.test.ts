import { afterAll, describe, expect, it } from 'vitest'
import { unwrap } from '../../src/domain/unwrap.ts'
import type { Store } from '../../src/ports/store/store.ts'
import { Scene } from '../../src/testing/scene.ts'
import { withUnitOfWork } from '../faulty-stores/wrap.ts'
import { closeStores, openStore, STORE_KINDS } from '../support/stores.ts'
import { jittered, randomFrom } from './jitter.ts'

const CLAIMERS = 16
const PENDING = 320

/** Without a spread all of them try for the oldest, and each claim costs about ten commits. */
const MOST_COMMITS_PER_CLAIM = 2

afterAll(closeStores)

/** The same store, and how often it was asked to commit. */
const counted = (store: Store) => {
  const tried = { commits: 0 }
  const { unitOfWork } = store
  const counting = withUnitOfWork(store, {
    load: (question, command) => unitOfWork.load(question, command),
    estimateNow: () => unitOfWork.estimateNow(),
    commit: (unit) => {
      tried.commits += 1
      return unitOfWork.commit(unit)
    },
  })
  return { counting, tried }
}

const inBatches = async (count: number, work: () => Promise<unknown>): Promise<void> => {
  for (let left = count; left > 0; left -= CLAIMERS) {
    await Promise.all(Array.from({ length: Math.min(left, CLAIMERS) }, work))
  }
}

describe.each(STORE_KINDS)('sixteen claimers over several hundred pending handoffs: %s', (kind) => {
  it('claim each once, and seldom try for the same', async () => {
    const scene = new Scene(await openStore(kind))
    const targetAgent = scene.name('opus')
    const pending = new Set<string>()
    await inBatches(PENDING, async () => pending.add((await scene.initiated({ targetAgent })).handoff.id))
    const { counting, tried } = counted(jittered(scene.store, randomFrom(20_261_116)))
    const claimed: string[] = []
    // A service each, as if in a process each: they share nothing but the store.
    const work = async (claimant: string): Promise<void> => {
      const service = scene.serviceOver(counting)
      for (;;) {
        const { handoff } = unwrap(await service.claimNext({ targetAgent, claimant }))
        if (handoff === undefined) return
        claimed.push(handoff.id)
      }
    }
    await Promise.all(Array.from({ length: CLAIMERS }, (_, n) => work(`worker-${n}`)))
    expect(claimed).toHaveLength(PENDING)
    expect(new Set(claimed)).toEqual(pending)
    console.log(`${kind}: ${(tried.commits / PENDING).toFixed(2)} commits tried per claim`)
    expect(tried.commits / PENDING).toBeLessThan(MOST_COMMITS_PER_CLAIM)
  })
})
