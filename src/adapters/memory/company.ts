import type { Change } from '../../domain/decision.ts'
import { StoreFailure } from '../../ports/store/store-failure.ts'

/** A lease changes, and turns are recorded, only with the session that the same unit begins or moves. */
export const checkCompany = (changes: readonly Change[]): void => {
  const moved = changes.flatMap((change) => ('working' in change ? change.working.session.id : []))
  for (const change of changes) {
    const isOf = change.type === 'set_lease' || change.type === 'drop_lease' || change.type === 'extend_turn'
    const id = change.type === 'add_turn' ? change.turn.sessionId : isOf ? change.session.id : undefined
    if (id !== undefined && !moved.includes(id))
      throw new StoreFailure(
        'store.integrity',
        `Session ${id} is not in the unit that would change its lease or its turns`,
      )
  }
}
