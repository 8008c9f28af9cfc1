import type { Store, Unit } from '../../src/entry/ports.ts'
import { withUnitOfWork } from './wrap.ts'

const drop = (change: Unit['changes'][number]): Unit['changes'][number] =>
  change.type === 'add_handoff' ? { ...change, handoff: { ...change.handoff, triggeringToolCalls: [] } } : change

/** Keeps handoffs without the tool calls that led to them, as a row mapper that forgot a table would. */
export const droppingToolCalls = (store: Store): Store =>
  withUnitOfWork(store, { commit: (unit) => store.unitOfWork.commit({ ...unit, changes: unit.changes.map(drop) }) })
