import assert from 'node:assert/strict'
import { agentSessionId } from '../../domain/kernel/ids.ts'
import { unwrap } from '../../domain/unwrap.ts'
import { refusal } from '../refusal.ts'
import type { ContractPart } from '../store-contract.ts'
import { assertIntact } from './trail.ts'

export const renewalsContract: ContractPart = {
  about: 'claims last as long as their claimants need',
  cases: {
    'renews a claim from now on, for its claimant alone': async (scene) => {
      const { service, store } = scene
      const { handoff } = await scene.initiated()
      unwrap(await service.acceptHandoff({ handoff, claimant: 'worker', claimMs: 400 }))
      const other = await service.renewClaim({ handoff: handoff.id, claimant: 'other' })
      assert.equal(refusal(other).code, 'handoff.not_claimant')
      const renewed = unwrap(await service.renewClaim({ handoff: handoff.id, claimant: 'worker', claimMs: 600_000 }))
      assert.deepEqual(await store.handoffs.find(handoff.id), renewed.handoff)
      await scene.passTime(450)
      const late = await service.acceptHandoff({ handoff: handoff.id, claimant: 'other' })
      assert.equal(refusal(late).code, 'handoff.already_claimed')
      unwrap(await service.completeHandoff({ ...renewed, claimant: 'worker' }))
      const over = await service.renewClaim({ handoff: handoff.id, claimant: 'worker' })
      assert.equal(refusal(over).code, 'handoff.illegal_transition')
      await assertIntact(scene, handoff.conversationId)
    },
    'renews a claim that ran out, while nobody else has claimed': async (scene) => {
      const { service } = scene
      const { handoff } = await scene.initiated()
      unwrap(await service.acceptHandoff({ handoff, claimant: 'worker', claimMs: 50 }))
      await scene.passTime(100)
      unwrap(await service.renewClaim({ handoff: handoff.id, claimant: 'worker', claimMs: 50 }))
      await scene.passTime(100)
      unwrap(await service.acceptHandoff({ handoff: handoff.id, claimant: 'other' }))
      const lost = await service.renewClaim({ handoff: handoff.id, claimant: 'worker' })
      assert.equal(refusal(lost).code, 'handoff.not_claimant')
    },
    'lets a claimant take its time before it prepares': async (scene) => {
      const { handoff, source } = await scene.initiated()
      const accepted = unwrap(await scene.service.acceptHandoff({ handoff, claimant: 'worker' }))
      // Longer than a claim may be away from the clock of the store when it begins.
      await scene.passTime(2_200)
      const targetSessionId = agentSessionId(scene.ids.next())
      const wanted = { claimant: 'worker', continuation: 'Begin here', targetSessionId, holder: source.holder }
      const prepared = unwrap(await scene.service.prepareHandoff({ ...accepted, ...wanted }))
      assert.deepEqual(await scene.store.handoffs.find(handoff.id), prepared.handoff)
    },
  },
}
