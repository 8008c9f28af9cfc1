import assert from 'node:assert/strict'
import type { HandoffId } from '../../domain/kernel/ids.ts'
import { agentSessionId, handoffId } from '../../domain/kernel/ids.ts'
import type { ThreadOpened } from '../../domain/thread/open-thread.ts'
import { unwrap } from '../../domain/unwrap.ts'
import { refusal } from '../refusal.ts'
import type { Scene, Worked } from '../scene.ts'
import type { ContractPart } from '../store-contract.ts'

const LONG_MS = 600_000

/** Opens a thread whose outcome its source waits for. */
const delegate = async (scene: Scene, source: Worked, more: object = {}): Promise<ThreadOpened> =>
  unwrap(
    await scene.service.openThread({
      ...source,
      targetAgent: scene.name('coder'),
      reason: 'A part of the work',
      flags: ['delegated'],
      ...more,
    }),
  )

const outcome = (reports: HandoffId, text = 'The coder is done.') =>
  ({ role: 'user', origin: 'batonpass', text, reports }) as const

/** Records the outcomes of threads in the next turn of their source. */
const report = (scene: Scene, source: Worked, ...threads: readonly HandoffId[]) =>
  scene.service.recordTurn({ ...source, messages: threads.map((thread) => outcome(thread)) })

const reportsOf = async (scene: Scene, { session }: Worked): Promise<readonly (HandoffId | undefined)[]> => {
  const { items } = await scene.store.messages.listMessages(session.conversationId, { limit: 100 })
  return items.flatMap(({ reports }) => reports ?? [])
}

export const delegationsContract: ContractPart = {
  about: 'delegated threads and their outcomes',
  cases: {
    'opens a thread whose first session has its id and a lease from its first moment': async (scene) => {
      const source = await scene.worked('read_file')
      const targetSessionId = agentSessionId(scene.ids.next())
      const named = { targetSessionId, leaseMs: LONG_MS, providerSessionId: scene.name('provider') }
      const { session, holder, handoff } = await delegate(scene, source, named)
      assert.equal(session.id, targetSessionId)
      assert.deepEqual(await scene.store.sessions.find(targetSessionId), session)
      assert.equal(session.providerSessionId, named.providerSessionId)
      assert.deepEqual((await scene.store.handoffs.find(handoff.id))?.flags, ['delegated'])
      assert.equal(await scene.store.leases.renew(session.id, holder, LONG_MS), true)
      const late = await scene.service.takeOverSession({ session: session.id, ifAbandoned: true })
      assert.equal(refusal(late).code, 'session.leased')
    },
    'opens a thread without a lease unless one is asked for': async (scene) => {
      const { session, holder } = await delegate(scene, await scene.worked('read_file'))
      assert.equal(await scene.store.leases.renew(session.id, holder, LONG_MS), false)
    },
    'keeps which thread a message reports': async (scene) => {
      const source = await scene.worked('read_file')
      const [one, two] = [await delegate(scene, source), await delegate(scene, source)]
      const reported = unwrap(await report(scene, source, one.handoff.id, two.handoff.id))
      assert.equal(reported.turns.length, 1)
      assert.deepEqual(await reportsOf(scene, source), [one.handoff.id, two.handoff.id])
    },
    'refuses the outcome of a thread that is on record, whoever holds the session by now': async (scene) => {
      const source = await scene.worked('read_file')
      const { handoff } = await delegate(scene, source)
      const code = 'thread.reported'
      assert.deepEqual(refusal(await report(scene, source, handoff.id, handoff.id)), { code, handoffId: handoff.id })
      const { holder } = source
      const later = { ...unwrap(await report(scene, source, handoff.id)), holder }
      assert.deepEqual(refusal(await report(scene, later, handoff.id)), { code, handoffId: handoff.id })
      assert.deepEqual(refusal(await report(scene, source, handoff.id)), { code, handoffId: handoff.id })
      const taken = { ...later, ...unwrap(await scene.service.takeOverSession({ session: source.session.id })) }
      assert.deepEqual(refusal(await report(scene, taken, handoff.id)), { code, handoffId: handoff.id })
      assert.deepEqual(await reportsOf(scene, source), [handoff.id])
    },
    'refuses to report what is no thread of the conversation': async (scene) => {
      const [source, other] = [await scene.worked('read_file'), await scene.worked('read_file')]
      const { handoff: elsewhere } = await delegate(scene, other)
      const { handoff: cancelled } = unwrap(
        await scene.service.initiateHandoff({ ...source, targetAgent: scene.name('opus'), reason: 'Stuck' }),
      )
      const released = unwrap(await scene.service.cancelHandoff({ handoff: cancelled, reason: 'No longer needed' }))
      const unknown = handoffId(scene.ids.next())
      for (const id of [elsewhere.id, cancelled.id, unknown]) {
        const answer = await report(scene, { ...source, session: released.session }, id)
        assert.deepEqual(refusal(answer), { code: 'handoff.not_found', handoffId: id })
      }
      assert.deepEqual(await reportsOf(scene, source), [])
    },
    'takes reports from Batonpass alone, and in turns alone': async (scene) => {
      const source = await scene.worked('read_file')
      const { handoff } = await delegate(scene, source)
      const messages = [{ ...outcome(handoff.id), origin: 'person' as const }]
      assert.equal(refusal(await scene.service.recordTurn({ ...source, messages })).code, 'input.invalid')
      const left = unwrap(
        await scene.service.initiateHandoff({ ...source, targetAgent: scene.name('opus'), reason: 'Stuck' }),
      )
      const later = { handoff: left.handoff, holder: source.holder, messages: [outcome(handoff.id)] }
      assert.equal(refusal(await scene.service.extendTurn(later)).code, 'input.invalid')
      assert.deepEqual(await reportsOf(scene, source), [])
    },
    'delegates nothing but threads': async (scene) => {
      const source = await scene.worked('read_file')
      const request = { ...source, targetAgent: scene.name('opus'), reason: 'Stuck', flags: ['delegated'] as const }
      assert.equal(refusal(await scene.service.initiateHandoff(request)).code, 'input.invalid')
      assert.equal(await scene.store.handoffs.findOpenFor(source.session.id), undefined)
    },
  },
}
