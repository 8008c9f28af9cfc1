import type { Store } from '../ports/store/store.ts'
import { StoreFailure } from '../ports/store/store-failure.ts'
import type { CommitOutcome, Unit, UnitOfWork } from '../ports/store/unit-of-work.ts'

/** The faults that can happen between a caller and its store. */
export type Fault =
  /** The commit is kept, and the caller is told it failed: the reply was lost. */
  | 'reply_lost'
  /** The commit is kept, its reply is lost on the way, and the same unit is sent again. */
  | 'sent_twice'
  /** Nothing is done, and the caller is told so. */
  | 'unavailable'
  /** Nothing is done, and the caller is told that something moved. */
  | 'conflict'
  /** Nothing is done, and the caller is told that it was kept: the server that had it is lost, and its standby takes over without. */
  | 'acknowledged_and_lost'

/**
 * Makes the next commits of a store go wrong, in order; after that it works again.
 *
 * @example
 * ```ts
 * const faults = new FaultInjector(new MemoryStore({ clock: new FixedClock() }))
 * const { handoffs } = await createBatonpass({ store: faults.store })
 * const request = { originalTask: 'Fix the flaky test', commandId: commandId(new CountingIds().next()) }
 *
 * faults.plan('reply_lost')
 * await handoffs.openConversation(request).catch((failure) => console.log(failure.retryable)) // => true
 * const again = await handoffs.openConversation(request)
 * console.log(again.ok) // => true
 * ```
 */
export class FaultInjector {
  /** The same store, with faults on its way. Reads are left alone. */
  readonly store: Store
  readonly #faults: Fault[] = []

  constructor(store: Store) {
    const commit = (unit: Unit): Promise<CommitOutcome> => this.#commit(store.unitOfWork, unit)
    const { unitOfWork: inner } = store
    const unitOfWork: UnitOfWork = {
      load: (question, command) => inner.load(question, command),
      commit,
      estimateNow: () => inner.estimateNow(),
    }
    const { conversations, sessions, handoffs, snapshots, messages, audit, monitors, signals } = store
    const { leases, commands, ids, lookBacks, threadSummaries } = store
    const dispose = (): PromiseLike<void> => store[Symbol.asyncDispose]()
    this.store = {
      unitOfWork,
      conversations,
      sessions,
      handoffs,
      snapshots,
      messages,
      audit,
      monitors,
      signals,
      leases,
      commands,
      ids,
      lookBacks,
      threadSummaries,
      [Symbol.asyncDispose]: dispose,
    }
  }

  /** Plans faults for the commits to come. */
  plan(...faults: readonly Fault[]): void {
    this.#faults.push(...faults)
  }

  async #commit(unitOfWork: UnitOfWork, unit: Unit): Promise<CommitOutcome> {
    const fault = this.#faults.shift()
    if (fault === 'acknowledged_and_lost') return { outcome: 'kept' }
    if (fault === 'conflict') return { outcome: 'conflict', at: 'a planned fault' }
    if (fault === 'unavailable')
      throw new StoreFailure('store.unavailable', 'The store was made unavailable for a test')
    const outcome = await unitOfWork.commit(unit)
    if (fault === 'reply_lost') throw new StoreFailure('store.unavailable', 'The reply was lost for a test')
    return fault === 'sent_twice' ? unitOfWork.commit(unit) : outcome
  }
}
