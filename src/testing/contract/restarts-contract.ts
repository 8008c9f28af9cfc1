import assert from 'node:assert/strict'
import type { RestartBudget } from '../../domain/budget/restart-budget.ts'
import type { CheckpointFacts } from '../../domain/checkpoint/checkpoint-facts.ts'
import type { HandoffMetadata } from '../../domain/handoff/handoff.ts'
import { agentSessionId, type ConversationId, commandId } from '../../domain/kernel/ids.ts'
import { unwrap } from '../../domain/unwrap.ts'
import { mustHold } from '../../services/commands/answers.ts'
import { refusal } from '../expected-refusal.ts'
import type { Scene } from '../scene.ts'
import type { ContractPart } from '../store-contract.ts'
import { assertIntact, kindsOf } from './trail.ts'

/** Texts that stores have trouble with: a NUL, half a surrogate pair, and what an escape may look like. */
const AWKWARD = 'a\u0000b \ud800 \uf8ff0 "quoted" \\u0000 🎉'

const TOTALS = { inputTokens: 12_345, outputTokens: 678, requests: 9, costUsd: 0.125 }

const FACTS: CheckpointFacts = {
  outcome: 'kept',
  reason: AWKWARD,
  characters: 1_234,
  isCut: true,
  sections: ['Goal', 'Current state'],
  statements: { cited: 3, uncited: 2, miscited: 1, exempt: 4 },
  attempts: 2,
  totals: TOTALS,
}

const BUDGET: RestartBudget = { maxRestarts: 1, whenExhausted: 'stop' }

/** Asks, and asks again under the same id: the answer is the same, and nothing more is written. */
const twice = async <T>(scene: Scene, id: ConversationId, ask: () => Promise<T>): Promise<T> => {
  const first = await ask()
  const before = await scene.store.audit.readChain(id, { limit: 1_000 })
  assert.deepEqual(await ask(), first)
  assert.deepEqual(await scene.store.audit.readChain(id, { limit: 1_000 }), before)
  return first
}

const papersOf = ({ document, flags, checkpoint }: HandoffMetadata) => ({ document, flags, checkpoint })

export const restartsContract: ContractPart = {
  about: 'what runtimes and checkpoints leave on record',
  cases: {
    'reads back under which name a session runs and what it used': async (scene) => {
      const working = await scene.worked('read_file')
      const name = `${scene.name('provider')} ${AWKWARD}`
      const attached = unwrap(await scene.service.attachSession({ ...working, providerSessionId: name }))
      assert.deepEqual(await scene.store.sessions.find(working.session.id), attached.session)
      assert.deepEqual(await scene.store.sessions.findByProviderSession(name), [attached.session])
      const accounted = unwrap(await scene.service.accountSession({ ...working, ...attached, totals: TOTALS }))
      assert.deepEqual(await scene.store.sessions.find(working.session.id), accounted.session)
      assert.deepEqual(accounted.session.totals, TOTALS)
      const least = { inputTokens: 0, outputTokens: 0 }
      const less = unwrap(await scene.service.accountSession({ ...working, ...accounted, totals: least }))
      assert.deepEqual((await scene.store.sessions.find(working.session.id))?.totals, least)
      const turned = await scene.work({ ...working, ...less }, 'run_tests')
      assert.deepEqual(await scene.store.sessions.find(working.session.id), turned.session)
      assert.equal(turned.session.providerSessionId, name)
      await assertIntact(scene, working.session.conversationId)
    },
    'lets a session that has spoken keep its provider session, and one that has not change it': async (scene) => {
      const started = await scene.session()
      const [first, second, third] = ['a', 'b', 'c'].map((base) => scene.name(base)) as [string, string, string]
      await scene.service.attachSession({ ...started, providerSessionId: first })
      const attached = unwrap(await scene.service.attachSession({ ...started, providerSessionId: second }))
      assert.equal((await scene.store.sessions.find(started.session.id))?.providerSessionId, second)
      assert.deepEqual(await scene.store.sessions.findByProviderSession(first), [])
      const spoken = await scene.work({ ...started, ...attached }, 'run_tests')
      const refused = await scene.service.attachSession({ ...spoken, providerSessionId: third })
      assert.equal(refusal(refused).code, 'session.attached')
      const again = unwrap(await scene.service.attachSession({ ...spoken, providerSessionId: second }))
      assert.deepEqual(again.session, spoken.session)
      await assertIntact(scene, started.session.conversationId)
    },
    'reads back exactly what an outgoing agent left': async (scene) => {
      const { handoff, source } = await scene.initiated({ flags: ['decided_by_hook'] })
      const { holder } = source
      const request = { handoff, holder, document: AWKWARD, flags: ['no_progress'] as const, checkpoint: FACTS }
      const checkpointed = unwrap(await scene.service.keepCheckpoint(request))
      assert.deepEqual(await scene.store.handoffs.find(handoff.id), checkpointed.handoff)
      assert.deepEqual(papersOf(checkpointed.handoff), {
        document: AWKWARD,
        flags: ['decided_by_hook', 'no_progress'],
        checkpoint: FACTS,
      })
      const snapshot = await scene.store.snapshots.findLatest(source.session.id)
      assert.equal(snapshot?.type, 'checkpoint')
      assert.deepEqual(snapshot?.messages, { user: 1, assistant: 1, tool: 0, system: 0 })
      await assertIntact(scene, handoff.conversationId)
    },
    'reads back that an outgoing agent left nothing': async (scene) => {
      const { handoff, source } = await scene.initiated()
      const checkpoint = { outcome: 'timed_out', reason: 'No answer in time' } as const
      const nothing = { handoff, holder: source.holder, flags: ['checkpoint_timed_out'] as const, checkpoint }
      const checkpointed = unwrap(await scene.service.keepCheckpoint(nothing))
      assert.deepEqual(await scene.store.handoffs.find(handoff.id), checkpointed.handoff)
      assert.equal(checkpointed.handoff.document, undefined)
      assert.equal((await scene.store.snapshots.findLatest(source.session.id))?.type, 'handoff_initiated')
      const late = await scene.service.keepCheckpoint({ ...nothing, document: 'Late', checkpoint: FACTS })
      assert.equal(refusal(late).code, 'handoff.checkpointed')
    },
    'keeps what goes with a handoff through every later step, and passes the continuation on': async (scene) => {
      const { service, store } = scene
      const { handoff, source } = await scene.initiated()
      const { holder } = source
      const checkpointed = unwrap(
        await service.keepCheckpoint({ handoff, holder, document: AWKWARD, checkpoint: FACTS }),
      )
      const papers = papersOf(checkpointed.handoff)
      const accepted = unwrap(await service.acceptHandoff({ ...checkpointed, claimant: 'worker' }))
      assert.deepEqual(await store.handoffs.find(handoff.id), accepted.handoff)
      const targetSessionId = agentSessionId(scene.ids.next())
      const wanted = { claimant: 'worker', continuation: `Go on. ${AWKWARD}`, targetSessionId }
      const prepared = unwrap(await service.prepareHandoff({ ...accepted, holder, ...wanted }))
      assert.deepEqual(await store.handoffs.find(handoff.id), prepared.handoff)
      assert.deepEqual(prepared.handoff.status === 'accepted' && prepared.handoff.prepared, {
        sessionId: targetSessionId,
        continuation: wanted.continuation,
      })
      const done = unwrap(await service.completeHandoff({ ...prepared, claimant: 'worker' }))
      assert.deepEqual(await store.handoffs.find(handoff.id), done.handoff)
      assert.equal('prepared' in done.handoff, false)
      for (const step of [accepted, prepared, done]) assert.deepEqual(papersOf(step.handoff), papers)
      assert.equal(done.session.id, targetSessionId)
      assert.deepEqual(await store.sessions.findActive(handoff.conversationId), done.session)
      const { items } = await store.messages.listMessages(handoff.conversationId, { limit: 100 })
      const opening = items.filter(({ sessionId }) => sessionId === targetSessionId)
      assert.deepEqual(
        opening.map(({ role, text }) => ({ role, text })),
        [{ role: 'user', text: wanted.continuation }],
      )
      await assertIntact(scene, handoff.conversationId)
    },
    'keeps what was prepared for a later claimant, who may replace it; nothing of it stays after a cancel': async (
      scene,
    ) => {
      const { service, store } = scene
      const { handoff, source } = await scene.initiated()
      const accepted = unwrap(await service.acceptHandoff({ handoff, claimant: 'first', claimMs: 400 }))
      const wanted = (claimant: string) => ({
        claimant,
        holder: source.holder,
        continuation: `Prepared by ${claimant}`,
        targetSessionId: agentSessionId(scene.ids.next()),
      })
      const prepared = unwrap(await service.prepareHandoff({ ...accepted, ...wanted('first') }))
      await scene.passTime(450)
      const taken = unwrap(await service.acceptHandoff({ handoff: handoff.id, claimant: 'second' }))
      const { prepared: before } = prepared.handoff.status === 'accepted' ? prepared.handoff : {}
      assert.deepEqual(taken.handoff.status === 'accepted' && taken.handoff.prepared, before)
      const late = await service.prepareHandoff({ ...prepared, ...wanted('first') })
      assert.equal(refusal(late).code, 'handoff.not_claimant')
      const again = unwrap(await service.prepareHandoff({ ...taken, ...wanted('second') }))
      assert.deepEqual(await store.handoffs.find(handoff.id), again.handoff)
      const cancelled = unwrap(await service.cancelHandoff({ handoff, by: 'second', reason: 'Not needed' }))
      assert.deepEqual(await store.handoffs.find(handoff.id), cancelled.handoff)
      await assertIntact(scene, handoff.conversationId)
    },
    'gives the first answer to each of these commands again, and writes nothing': async (scene) => {
      const { service } = scene
      const conversation = unwrap(
        await service.openConversation({ originalTask: 'Fix it', restartBudget: BUDGET }),
      ).conversation
      const { id } = conversation
      const started = await scene.session(scene.name('claude-code'), conversation, { leaseMs: 600_000 })
      const named = () => ({ commandId: commandId(scene.ids.next()) })
      const attach = { ...started, providerSessionId: scene.name('provider'), ...named() }
      const attached = unwrap(await twice(scene, id, () => service.attachSession(attach)))
      const account = { ...started, ...attached, totals: TOTALS, ...named() }
      const accounted = unwrap(await twice(scene, id, () => service.accountSession(account)))
      const result = { name: 'notify', type: 'shell', ok: true, output: 'sent', durationMs: 3, exitCode: 0 } as const
      const hooks = {
        conversationId: id,
        sessionId: started.session.id,
        moment: 'after_run',
        results: [result],
      } as const
      const delivered = { ...hooks, ...named() }
      await twice(scene, id, () => service.recordHooks(delivered))
      const working = await scene.work({ ...started, ...accounted }, 'read_file')
      const begin = { ...working, reason: 'Full', ...named() }
      const begun = unwrap(await twice(scene, id, () => service.restartSession(begin)))
      const handoff = begun.handoff as HandoffMetadata
      const { holder } = working
      const keep = { handoff, holder, document: AWKWARD, checkpoint: FACTS, ...named() }
      const checkpointed = unwrap(await twice(scene, id, () => service.keepCheckpoint(keep)))
      const accepted = unwrap(await service.acceptHandoff({ ...checkpointed, claimant: 'worker' }))
      const targetSessionId = agentSessionId(scene.ids.next())
      const wanted = { holder, claimant: 'worker', continuation: AWKWARD, targetSessionId }
      const prepare = { ...accepted, ...wanted, ...named() }
      const prepared = await twice(scene, id, () => service.prepareHandoff(prepare))
      const done = unwrap(await service.completeHandoff({ ...unwrap(prepared), claimant: 'worker', leaseMs: 600_000 }))
      const taking = { session: done.session.id, leaseMs: 600_000, ...named() }
      const taken = mustHold(unwrap(await service.takeOverSession(taking)))
      const turned = await scene.work(taken, 'run_tests')
      const stop = { ...turned, reason: 'Full again', ...named() }
      const stopped = unwrap(await twice(scene, id, () => service.restartSession(stop)))
      assert.equal(stopped.refusedBy, 'restarts')
      assert.deepEqual(await service.prepareHandoff(prepare), prepared)
      assert.deepEqual(unwrap(await service.keepCheckpoint(keep)), checkpointed)
      assert.equal(refusal(await service.keepCheckpoint({ ...keep, document: 'Other' })).code, 'command.id_reused')
      await assertIntact(scene, id)
    },
    'logs which hooks were called, and nothing of what they said': async (scene) => {
      const { session } = await scene.session()
      const { conversationId, id: sessionId } = session
      const failed = { code: 'hook.http_status', message: 'It said secret-word' } as const
      const results = [
        { name: 'notify', type: 'shell', ok: true, output: 'secret-word', durationMs: 3.6, exitCode: 0 },
        {
          name: 'tell',
          type: 'webhook',
          ok: false,
          output: 'secret-word',
          durationMs: 8,
          httpStatus: 500,
          error: failed,
        },
      ] as const
      const request = { conversationId, sessionId, moment: 'on_session_start', results } as const
      unwrap(await scene.service.recordHooks(request))
      const { items } = await scene.store.audit.list(conversationId, { limit: 1_000 })
      const about = { type: 'hook.delivered', version: 1, conversationId, at: scene.clock.now(), sessionId }
      assert.deepEqual(
        items.slice(-2).map(({ event }) => event),
        [
          { moment: request.moment, hook: 'notify', hookType: 'shell', ok: true, durationMs: 4, exitCode: 0 },
          {
            moment: request.moment,
            hook: 'tell',
            hookType: 'webhook',
            ok: false,
            durationMs: 8,
            httpStatus: 500,
            errorCode: 'hook.http_status',
          },
        ].map((event) => ({ ...about, ...event })),
      )
      assert.deepEqual(await scene.store.sessions.find(sessionId), session)
      await assertIntact(scene, conversationId)
      const before = await kindsOf(scene, conversationId)
      unwrap(await scene.service.recordHooks({ ...request, results: [] }))
      assert.deepEqual(await kindsOf(scene, conversationId), before)
    },
  },
}
