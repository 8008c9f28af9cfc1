import assert from 'node:assert/strict'
import {
  agentSessionId,
  type ConversationId,
  type HandoffId,
  handoffId,
  conversationId as newId,
} from '../../domain/kernel/ids.ts'
import type { AgentSession, WorkingSession } from '../../domain/session/agent-session.ts'
import type { ThreadOpened } from '../../domain/thread/open-thread.ts'
import { unwrap } from '../../domain/unwrap.ts'
import { refusal } from '../expected-refusal.ts'
import type { Scene, Worked } from '../scene.ts'
import type { ContractPart } from '../store-contract.ts'
import { assertIntact } from './trail.ts'

const TOTALS = { inputTokens: 12_345, outputTokens: 678, requests: 9 }
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

/** The session that a child continues in after a restart. */
const successorOf = async (scene: Scene, child: ThreadOpened): Promise<AgentSession> => {
  const left = await scene.work(child, 'run_tests')
  const kind = 'context_restart' as const
  const request = { ...left, kind, targetAgent: left.session.agentName, reason: 'Full' }
  const { handoff } = unwrap(await scene.service.initiateHandoff(request))
  return unwrap(await scene.service.completeHandoff({ handoff })).session
}

const account = async (scene: Scene, working: WorkingSession, costUsd: number): Promise<void> => {
  const { session, holder } = working
  unwrap(await scene.service.accountSession({ session: session.id, holder, totals: { ...TOTALS, costUsd } }))
}

const checkpointCosting = async (scene: Scene, { session, holder }: Worked, costUsd: number): Promise<void> => {
  const request = { session: session.id, holder, targetAgent: scene.name('opus'), reason: 'Stuck' }
  const { handoff } = unwrap(await scene.service.initiateHandoff(request))
  const checkpoint = { outcome: 'missing', totals: { ...TOTALS, costUsd } } as const
  unwrap(await scene.service.keepCheckpoint({ handoff, holder, checkpoint }))
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
      await assertIntact(scene, source.session.conversationId)
    },
    'refuses the outcome of a thread that is on record, also when another holds the session by now': async (scene) => {
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
    'lists the delegated threads that wait, oldest first, each with the latest session of its child': async (scene) => {
      const source = await scene.worked('read_file')
      const made: ThreadOpened[] = []
      for (let count = 0; count < 3; count += 1) {
        scene.clock.advance(1)
        made.push(await delegate(scene, source))
      }
      const [one, two, three] = made as [ThreadOpened, ThreadOpened, ThreadOpened]
      unwrap(await scene.service.openThread({ ...source, targetAgent: scene.name('coder') }))
      const waiting = (): ReturnType<Scene['store']['conversations']['listDelegated']> =>
        scene.store.conversations.listDelegated(source.session.conversationId)
      assert.deepEqual(
        await waiting(),
        made.map(({ handoff, session }) => ({ handoff, session })),
      )
      const second = await successorOf(scene, two)
      unwrap(await scene.service.completeSession(three))
      unwrap(await report(scene, source, one.handoff.id))
      const ended = await scene.store.sessions.find(three.session.id)
      assert.ok(ended?.state === 'completed')
      assert.deepEqual(await waiting(), [
        { handoff: two.handoff, session: second },
        { handoff: three.handoff, session: ended },
      ])
      assert.deepEqual(await scene.store.conversations.listDelegated(two.conversation.id), [])
      assert.deepEqual(await scene.store.conversations.listDelegated(newId(scene.ids.next())), [])
    },
    'says how deep a conversation is, and what its whole tree has delegated and cost': async (scene) => {
      const root = await scene.worked('read_file')
      const [left, right] = [await delegate(scene, root), await delegate(scene, root)]
      const under = await delegate(scene, await scene.work(left, 'run_tests'))
      unwrap(await scene.service.openThread({ ...root, targetAgent: scene.name('coder') }))
      const [elsewhere, none] = [await scene.worked('read_file'), { depth: 0, threads: 0, costUsd: 0 }]
      await account(scene, elsewhere, 64)
      for (const [costUsd, working] of [root, left, right, under].entries()) await account(scene, working, 2 ** costUsd)
      await checkpointCosting(scene, await scene.work(under), 16)
      const tree = { threads: 3, costUsd: 31 }
      const find = (id: ConversationId) => scene.store.conversations.findTree(id)
      assert.deepEqual(await find(root.session.conversationId), { depth: 0, ...tree })
      assert.deepEqual(await find(right.conversation.id), { depth: 1, ...tree })
      assert.deepEqual(await find(under.conversation.id), { depth: 2, ...tree })
      assert.deepEqual(await find(elsewhere.session.conversationId), { ...none, costUsd: 64 })
      assert.equal(await find(newId(scene.ids.next())), undefined)
    },
  },
}
