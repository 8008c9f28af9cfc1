import type { Store, Unit } from '../../src/entry/ports.ts'
import { withUnitOfWork } from './wrap.ts'

const lose = (change: Unit['changes'][number]): Unit['changes'][number] => {
  if (change.type !== 'move_handoff' || change.handoff.status === 'initiated') return change
  const { checkpoint: _, ...rest } = change.handoff
  return { ...change, handoff: rest }
}

/** Forgets what became of a checkpoint with the next step, as an UPDATE that writes every column would. */
export const losingCheckpoints = (store: Store): Store =>
  withUnitOfWork(store, { commit: (unit) => store.unitOfWork.commit({ ...unit, changes: unit.changes.map(lose) }) })
