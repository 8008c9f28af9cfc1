import assert from 'node:assert/strict'
import { ID_KINDS } from '../../ports/store/id-search.ts'
import type { ContractPart } from '../store-contract.ts'

export const idSearchContract: ContractPart = {
  about: 'ids in part',
  cases: {
    'finds the ids of one kind that end alike, newest first, and no more than asked for': async (scene) => {
      const { ids } = scene.store
      const { handoff } = await scene.initiated()
      const { handoff: later } = await scene.initiated()
      const known = {
        conversation: handoff.conversationId,
        session: handoff.sourceSessionId,
        handoff: handoff.id,
        turn: handoff.priorTurnId,
      }
      for (const kind of ID_KINDS) {
        const id = known[kind]
        for (const length of [36, 35, 32]) assert.deepEqual(await ids.ending(kind, id.slice(-length), 10), [id])
        for (const other of ID_KINDS)
          if (other !== kind) assert.deepEqual(await ids.ending(other, id.slice(-32), 10), [])
      }
      // Other histories in this store may have ids that end alike.
      const end = handoff.id.slice(-12)
      const found = await ids.ending('handoff', end, 1_000)
      assert.ok(found.includes(handoff.id) && !found.includes(later.id))
      assert.deepEqual(
        found,
        [...new Set(found)]
          .filter((id) => id.endsWith(end))
          .sort()
          .reverse(),
      )
      assert.deepEqual(await ids.ending('handoff', end, 1), found.slice(0, 1))
      assert.deepEqual(await ids.ending('handoff', `${end}'%`, 10), [])
    },
  },
}
