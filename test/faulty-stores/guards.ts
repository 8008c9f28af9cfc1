import { expecting, expectingHandoff } from '../../src/domain/decision.ts'
import type { Store, Unit } from '../../src/entry/ports.ts'
import { withUnitOfWork } from './wrap.ts'

type Change = Unit['changes'][number]

/** Lets a write expect what is stored, and of what its caller expected only what `keeps` leaves. */
const expectingStored =
  (store: Store, keeps: (expected: { readonly version: number }) => object) =>
  async (change: Change): Promise<Change> => {
    if (change.type === 'move_session') {
      const stored = await store.sessions.find(change.working.session.id)
      if (stored === undefined) return change
      const { holder: _, ...expected } = expecting({ session: stored })
      // Who speaks is another promise: the token is shown as before.
      const { token } = change.expected
      return { ...change, expected: { ...expected, ...(token && { token }), ...keeps(change.expected) } }
    }
    if (change.type === 'move_handoff') {
      const stored = await store.handoffs.find(change.handoff.id)
      if (stored === undefined) return change
      return { ...change, expected: { ...expectingHandoff(stored), ...keeps(change.expected) } }
    }
    return change
  }

const committing = (store: Store, changed: (change: Change) => Promise<Change>): Store =>
  withUnitOfWork(store, {
    commit: async (unit) => store.unitOfWork.commit({ ...unit, changes: await Promise.all(unit.changes.map(changed)) }),
  })

/** Writes over whatever is there, as an UPDATE without its WHERE would. */
export const withoutGuard = (store: Store): Store =>
  committing(
    store,
    expectingStored(store, () => ({})),
  )

/** Compares the version alone, so that a copy which names the right one is believed. */
export const guardingVersionsOnly = (store: Store): Store =>
  committing(
    store,
    expectingStored(store, ({ version }) => ({ version })),
  )

/** Starts sessions in conversations that were closed after the facts were read. */
export const startingInClosed = (store: Store): Store =>
  withUnitOfWork(store, {
    commit: (unit) =>
      store.unitOfWork.commit({ ...unit, changes: unit.changes.filter(({ type }) => type !== 'expect_open') }),
  })
