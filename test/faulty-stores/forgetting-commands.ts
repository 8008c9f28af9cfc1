import { commandId } from '../../src/entry/index.ts'
import type { Store } from '../../src/entry/ports.ts'
import { CountingIds } from '../../src/entry/testing.ts'
import { withUnitOfWork } from './wrap.ts'

/** Remembers only commands that their callers named. */
export const forgettingUnnamedCommands = (store: Store): Store =>
  withUnitOfWork(store, {
    commit: (unit) => store.unitOfWork.commit({ ...unit, isRemembered: unit.receipt !== undefined }),
  })

/** Never recognises a command id. */
export const forgettingCommands = (store: Store): Store => {
  const ids = new CountingIds(0xf0e6e7)
  const forget = <T extends { readonly id: string }>(command: T) => ({ ...command, id: commandId(ids.next()) })
  return withUnitOfWork(store, {
    load: (question, command) => store.unitOfWork.load(question, forget(command)),
    commit: (unit) => store.unitOfWork.commit({ ...unit, command: forget(unit.command) }),
  })
}
