import assert from 'node:assert/strict'
import { idRange } from '../../domain/kernel/id-range.ts'
import { ID_KINDS } from '../../ports/id-search.ts'
import type { ContractPart } from '../store-contract.ts'

/** The range of the ids that begin so. */
const beginning = (text: string) => {
  const range = idRange(text)
  assert.ok(range)
  return range
}

export const idSearchContract: ContractPart = {
  about: 'ids in part',
  cases: {
    'finds the ids of one kind that begin alike, lowest first, and no more than asked for': async (scene) => {
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
        assert.deepEqual(await ids.within(kind, beginning(id), 10), [id])
        assert.ok((await ids.within(kind, beginning(id.slice(0, 35)), 100)).includes(id))
        for (const other of ID_KINDS)
          if (other !== kind) assert.deepEqual(await ids.within(other, beginning(id), 10), [])
      }
      const both = [handoff.id, later.id].sort()
      const [from = '', to = ''] = both
      assert.deepEqual(await ids.within('handoff', { from, to }, 100), both)
      assert.deepEqual(await ids.within('handoff', { from, to }, 1), [from])
      assert.deepEqual(await ids.within('handoff', { from: to, to: from }, 10), [])
    },
  },
}
