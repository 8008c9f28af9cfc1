import assert from 'node:assert/strict'
import { ID_KINDS } from '../../ports/id-search.ts'
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
        for (const length of [36, 35, 24, 13, 12]) assert.deepEqual(await ids.ending(kind, id.slice(-length), 10), [id])
        for (const other of ID_KINDS)
          if (other !== kind) assert.deepEqual(await ids.ending(other, id.slice(-12), 10), [])
      }
      const both: readonly string[] = [handoff.id, later.id].sort().reverse()
      const [first = '', second = ''] = both
      let shared = 0
      while (first.at(-1 - shared) === second.at(-1 - shared)) shared += 1
      const found = await ids.ending('handoff', first.slice(-1 - shared), 100)
      assert.ok(found.includes(first) && !found.includes(second))
      const all = await ids.ending('handoff', '', 100)
      assert.deepEqual(
        all.filter((id) => both.includes(id)),
        both,
      )
      assert.deepEqual(all, [...all].sort().reverse())
      assert.deepEqual(await ids.ending('handoff', '', 1), all.slice(0, 1))
    },
  },
}
