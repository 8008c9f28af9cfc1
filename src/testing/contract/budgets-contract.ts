import assert from 'node:assert/strict'
import type { RestartBudget } from '../../domain/budget/restart-budget.ts'
import { taskOf } from '../../domain/conversation/conversation.ts'
import type { HandoffMetadata } from '../../domain/handoff/handoff.ts'
import { commandId, conversationId as newId } from '../../domain/kernel/ids.ts'
import type { SessionStartedAnswer } from '../../domain/session/start-session.ts'
import { unwrap } from '../../domain/unwrap.ts'
import type { Scene, Worked } from '../scene.ts'
import type { ContractPart } from '../store-contract.ts'
import { assertIntact, kindsOf } from './trail.ts'

const TOTALS = { inputTokens: 12_345, outputTokens: 678, requests: 9, costUsd: 0.125 }

const WINDOW = 100_000
const BUDGET: RestartBudget = { maxRestarts: 2, whenExhausted: 'stop' }

/** A session under `auto` whose conversation may be restarted so often and so dearly. */
const underAuto = async (scene: Scene, budget: Partial<RestartBudget> = {}): Promise<SessionStartedAnswer> => {
  const restartBudget = { ...BUDGET, ...budget }
  const opened = await scene.service.openConversation({ originalTask: 'Fix it', restartBudget })
  const monitor = { contextLimit: WINDOW, policy: 'auto' } as const
  return scene.session(scene.name('claude-code'), unwrap(opened).conversation, { monitor, prompt: 'Go' })
}

/** Two turns that get somewhere: with the second one the window is full. */
const fill = async (scene: Scene, working: SessionStartedAnswer): Promise<Worked> => {
  const first = await scene.work(working, 'read_file')
  const usage = { state: 'metered', promptTokens: 90_000, outputTokens: 500 } as const
  const full = unwrap(await scene.service.recordTurn({ ...first, ...scene.turn('run_tests'), usage }))
  return { ...full, holder: working.holder }
}

const restarted = async (scene: Scene, working: SessionStartedAnswer): Promise<SessionStartedAnswer> => {
  const { handoff } = await fill(scene, working)
  assert.ok(handoff)
  return unwrap(await scene.service.completeHandoff({ handoff }))
}

export const budgetsContract: ContractPart = {
  about: 'restarts have a budget, counted on record',
  cases: {
    'counts restarts of any status, and fails the session when they are used up': async (scene) => {
      const first = await underAuto(scene)
      const { conversationId } = first.session
      const full = await fill(scene, first)
      assert.ok(full.handoff)
      const { session } = unwrap(await scene.service.cancelHandoff({ handoff: full.handoff, reason: 'Not now' }))
      const turn = {
        ...scene.turn('search'),
        usage: { state: 'metered', promptTokens: 91_000, outputTokens: 1 },
      } as const
      const again = unwrap(await scene.service.recordTurn({ session: session.id, holder: full.holder, ...turn }))
      assert.ok(again.handoff)
      const next = unwrap(await scene.service.completeHandoff({ handoff: again.handoff, leaseMs: 60_000 }))
      const last = await fill(scene, next)
      assert.equal(last.refusedBy, 'restarts')
      assert.equal(last.handoff, undefined)
      const stored = await scene.store.sessions.find(next.session.id)
      assert.deepEqual(stored, last.session)
      assert.match(stored?.state === 'failed' ? stored.endReason : '', /its 2 restarts are used up/)
      assert.equal(stored?.progress.turns, 2)
      assert.equal(await scene.store.leases.renew(next.session.id, next.holder, 1_000), false)
      assert.deepEqual((await kindsOf(scene, conversationId)).slice(-2), ['context.restart_refused', 'session.failed'])
      await assertIntact(scene, conversationId)
    },
    'carries on when the budget says so: the turn is kept, and nothing else changes': async (scene) => {
      const started = await underAuto(scene, { maxRestarts: 0, whenExhausted: 'carry_on' })
      const full = await fill(scene, started)
      assert.equal(full.refusedBy, 'restarts')
      assert.equal(full.session.state, 'active')
      assert.deepEqual(await scene.store.sessions.find(started.session.id), full.session)
      assert.equal((await kindsOf(scene, started.session.conversationId)).at(-1), 'context.restart_refused')
      const begun = unwrap(await scene.service.restartSession({ ...full, reason: 'Full' }))
      assert.equal(begun.refusedBy, 'restarts')
      assert.deepEqual(await scene.store.sessions.find(started.session.id), full.session)
      unwrap(await scene.service.recordTurn({ ...full, ...scene.turn('search') }))
      await assertIntact(scene, started.session.conversationId)
    },
    'leaves a session open that its holder fails later, and takes what it still says': async (scene) => {
      const started = await underAuto(scene, { maxRestarts: 0 })
      const first = await scene.work(started, 'read_file')
      const usage = { state: 'metered', promptTokens: 90_000, outputTokens: 500 } as const
      const crossing = { ...first, ...scene.turn('run_tests'), usage, failLater: true }
      const full = unwrap(await scene.service.recordTurn(crossing))
      assert.deepEqual(full.exhausted, { limit: 'restarts', state: 'active' })
      assert.deepEqual(await scene.store.sessions.find(started.session.id), full.session)
      const { holder } = started
      const begun = unwrap(await scene.service.restartSession({ ...full, holder, failLater: true }))
      assert.deepEqual([begun.refusedBy, begun.handoff, begun.session], ['restarts', undefined, full.session])
      const messages = [{ role: 'tool', text: 'All green' }] as const
      const late = unwrap(await scene.service.recordTurn({ ...full, holder, messages, withholdRestart: true }))
      const ending = { ...late, holder, reason: 'Its restarts are used up', limit: 'restarts' } as const
      const { session } = unwrap(await scene.service.failSession(ending))
      assert.deepEqual(await scene.store.sessions.find(session.id), session)
      assert.equal(session.progress.turns, 3)
      await assertIntact(scene, session.conversationId)
    },
    'counts what sessions and checkpoints have cost': async (scene) => {
      const started = await underAuto(scene, { maxRestarts: 9, maxCostUsd: 1 })
      const accounted = unwrap(await scene.service.accountSession({ ...started, totals: { ...TOTALS, costUsd: 0.5 } }))
      const { handoff, holder } = await fill(scene, { ...started, ...accounted })
      assert.ok(handoff)
      const checkpoint = { outcome: 'kept', totals: { ...TOTALS, costUsd: 0.25 } } as const
      unwrap(await scene.service.keepCheckpoint({ handoff, holder, document: 'Half done', checkpoint }))
      const next = unwrap(await scene.service.completeHandoff({ handoff }))
      const cheap = unwrap(await scene.service.accountSession({ ...next, totals: { ...TOTALS, costUsd: 0.125 } }))
      const second = await fill(scene, { ...next, ...cheap })
      assert.ok(second.handoff)
      const last = unwrap(await scene.service.completeHandoff({ handoff: second.handoff }))
      const dear = unwrap(await scene.service.accountSession({ ...last, totals: { ...TOTALS, costUsd: 0.125 } }))
      const full = await scene.work({ ...last, ...dear }, 'search')
      const begun = unwrap(await scene.service.restartSession({ ...full, reason: 'Full' }))
      assert.equal(begun.refusedBy, 'cost')
      assert.deepEqual(await scene.store.sessions.find(full.session.id), begun.session)
      assert.equal(begun.session.state, 'paused')
    },
    'pauses a session whose money is spent: it drops its lease, and is resumed once there is more': async (scene) => {
      const { service, store } = scene
      const started = await underAuto(scene, { maxCostUsd: 1 })
      const { session, holder } = started
      const { conversationId: conversation } = session
      const dear = unwrap(await service.accountSession({ session, holder, totals: { ...TOTALS, costUsd: 1.5 } }))
      const full = await fill(scene, { ...started, ...dear })
      assert.deepEqual([full.refusedBy, full.handoff, full.exhausted?.state], ['cost', undefined, 'paused'])
      assert.deepEqual(await store.sessions.find(session.id), full.session)
      assert.equal(full.session.state, 'paused')
      assert.equal(await store.leases.renew(session.id, holder, 1_000), false)
      assert.equal(await store.sessions.findBaton(conversation), undefined)
      assert.deepEqual((await kindsOf(scene, conversation)).slice(-2), ['context.restart_refused', 'session.paused'])
      unwrap(await service.setBudget({ conversation, budget: { maxCostUsd: 2 } }))
      const resumed = unwrap(await service.resumeSession({ session: session.id, byHand: true }))
      const { handoff } = unwrap(await service.restartSession({ ...resumed, holder, reason: 'Full' }))
      assert.equal(handoff?.sourceSessionId, session.id)
      await assertIntact(scene, conversation)
    },
    'counts the deadline from the first session, across restarts': async (scene) => {
      const started = await underAuto(scene, { maxRestarts: 9, deadlineMs: 10_000 })
      scene.clock.advance(9_000)
      const next = await restarted(scene, started)
      scene.clock.advance(1_000)
      assert.equal((await fill(scene, next)).refusedBy, 'deadline')
    },
    'knows whether the session to be restarted came from a restart that got nowhere': async (scene) => {
      const { service } = scene
      const begin = async (working: SessionStartedAnswer, turns: number) => {
        let last = working
        const [, message] = scene.turn().messages
        for (let count = 0; count < turns; count += 1)
          last = { ...last, ...unwrap(await service.recordTurn({ ...last, messages: message ? [message] : [] })) }
        return unwrap(await service.restartSession({ ...last, reason: 'Full' }))
      }
      const first = await begin(await underAuto(scene, { maxRestarts: 9 }), 1)
      assert.deepEqual(first.handoff?.flags, ['no_progress'])
      const next = unwrap(await service.completeHandoff({ handoff: first.handoff as HandoffMetadata }))
      assert.equal((await begin(next, 2)).refusedBy, 'no_progress')
      const other = await begin(await underAuto(scene, { maxRestarts: 9 }), 1)
      const full = unwrap(await service.completeHandoff({ handoff: other.handoff as HandoffMetadata }))
      const used = await scene.work(full, 'read_file')
      const onward = await scene.work(used, 'run_tests')
      assert.deepEqual(unwrap(await service.restartSession({ ...onward, reason: 'Full' })).handoff?.flags, [])
    },
    'counts for each conversation alone: a thread begins with the whole budget': async (scene) => {
      const { service } = scene
      const started = await underAuto(scene, { maxRestarts: 1 })
      const { handoff: used } = await fill(scene, started)
      unwrap(await service.cancelHandoff({ handoff: used as HandoffMetadata, reason: 'Not now' }))
      const to = { targetAgent: started.session.agentName, reason: 'Aside' }
      const thread = unwrap(await service.openThread({ session: started.session.id, byHand: true, ...to }))
      const turned = await scene.work({ session: thread.session, holder: thread.holder })
      const { handoff } = unwrap(await service.restartSession({ ...turned, reason: 'Full' }))
      assert.equal(handoff?.conversationId, thread.conversation.id)
    },
    'counts restarts from the latest new prompt, which the same words again are not': async (scene) => {
      const { service, store } = scene
      const started = await underAuto(scene, { maxRestarts: 1 })
      const { conversationId: conversation } = started.session
      const next = await restarted(scene, started)
      for (const prompt of ['Fix it', ' Fix it\n']) unwrap(await service.askConversation({ conversation, prompt }))
      assert.ok(!(await kindsOf(scene, conversation)).includes('conversation.asked'))
      const prompted = unwrap(await service.askConversation({ conversation, prompt: 'Now the docs' })).conversation
      assert.deepEqual(await store.conversations.find(conversation), prompted)
      assert.equal(prompted.asked?.restarts, 1)
      const after = await restarted(scene, next)
      unwrap(await service.askConversation({ conversation, prompt: 'Now the docs' }))
      assert.equal((await fill(scene, after)).refusedBy, 'restarts')
      const failed = await store.sessions.find(after.session.id)
      assert.equal(failed?.state === 'failed' ? failed.endedBy : undefined, 'restarts')
      assert.equal((await store.conversations.findUse(conversation))?.restarts, 2)
      await assertIntact(scene, conversation)
    },
    'keeps the latest new prompt as the task, and where the next message went then': async (scene) => {
      const { service, store } = scene
      const worked = await scene.worked('read_file')
      const { conversationId: conversation, progress } = worked.session
      for (const prompt of ['Now the docs', 'No \0, and \ud800 neither'])
        unwrap(await service.askConversation({ conversation, prompt }))
      const found = await store.conversations.find(conversation)
      assert.equal(found && taskOf(found), 'No \0, and \ud800 neither')
      assert.equal(found?.asked?.sequence, progress.nextSequence)
      assert.notEqual(found?.originalTask, found?.asked?.prompt)
      const about = { ...worked, targetAgent: 'opus', reason: 'Other work' }
      const thread = unwrap(await service.openThread(about))
      assert.equal((await store.conversations.find(thread.conversation.id))?.originalTask, found?.asked?.prompt)
      await assertIntact(scene, conversation)
    },
    'answers a repeated command with the budget as it was then': async (scene) => {
      const { service, store } = scene
      const request = { originalTask: 'Fix it', commandId: commandId(scene.ids.next()) }
      const { conversation } = unwrap(await service.openConversation(request))
      unwrap(await service.setBudget({ conversation: conversation.id, budget: { maxRestarts: 9 } }))
      assert.equal((await store.conversations.find(conversation.id))?.restartBudget.maxRestarts, 9)
      assert.deepEqual(unwrap(await service.openConversation(request)).conversation, conversation)
    },
    'changes what is named of a budget, once, and keeps the rest': async (scene) => {
      const { service, store } = scene
      const started = await underAuto(scene, { maxRestarts: 0, deadlineMs: 60_000 })
      const { conversationId: conversation } = started.session
      const change = { conversation, budget: { maxRestarts: 1, maxCostUsd: 5, maxTakeovers: 2 } }
      const answered = unwrap(await service.setBudget(change)).conversation
      const restartBudget = {
        maxRestarts: 1,
        deadlineMs: 60_000,
        maxCostUsd: 5,
        maxTakeovers: 2,
        whenExhausted: 'stop',
      }
      assert.deepEqual(answered.restartBudget, restartBudget)
      assert.deepEqual(await store.conversations.find(conversation), answered)
      unwrap(await service.setBudget(change))
      const kinds = await kindsOf(scene, conversation)
      assert.equal(kinds.filter((kind) => kind === 'conversation.budget_set').length, 1)
      assert.ok((await fill(scene, started)).handoff)
      await assertIntact(scene, conversation)
    },
    'counts takeovers from processes that were gone, over all sessions, and none by hand': async (scene) => {
      const { service, store } = scene
      const started = await underAuto(scene)
      const { id: session, conversationId } = started.session
      unwrap(await service.takeOverSession({ session, leaseMs: 1 }))
      await scene.passTime(20)
      unwrap(await service.takeOverSession({ session, leaseMs: 60_000, ifAbandoned: true }))
      assert.equal((await store.sessions.find(session))?.takeovers, 1)
      const use = await store.conversations.findUse(conversationId)
      assert.deepEqual(use, { restarts: 0, takeovers: 1, costUsd: 0, firstStartedAt: started.session.startedAt })
      assert.equal(await store.conversations.findUse(newId(scene.ids.next())), undefined)
      await assertIntact(scene, conversationId)
    },
  },
}
