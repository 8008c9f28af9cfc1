import assert from 'node:assert/strict'
import { agentSessionId, conversationId } from '../../domain/kernel/ids.ts'
import { unwrap } from '../../domain/unwrap.ts'
import { refusal } from '../expected-refusal.ts'
import type { ContractPart } from '../store-contract.ts'

export const sessionsContract: ContractPart = {
  about: 'sessions',
  cases: {
    'reads back exactly what was started': async (scene) => {
      const conversation = await scene.conversation()
      const parent = await scene.session()
      const { session } = unwrap(
        await scene.service.startSession({
          conversationId: conversation.id,
          agentName: scene.name('claude-code'),
          backend: 'claude_agent_sdk',
          model: 'claude-opus-5',
          providerSessionId: scene.name('provider'),
          parentSessionId: parent.session.id,
          prompt: 'Begin',
        }),
      )
      assert.deepEqual(await scene.store.sessions.find(session.id), session)
      assert.deepEqual(await scene.store.sessions.findActive(conversation.id), session)
      assert.deepEqual(await scene.store.sessions.findByProviderSession(scene.name('provider')), [session])
    },
    'answers undefined for what is not there': async (scene) => {
      assert.equal(await scene.store.sessions.find(agentSessionId(scene.ids.next())), undefined)
      assert.equal(await scene.store.sessions.findActive(conversationId(scene.ids.next())), undefined)
      assert.deepEqual(await scene.store.sessions.findByProviderSession(scene.name('nobody')), [])
    },
    'lets one of several concurrent starts win': async (scene) => {
      const { id } = await scene.conversation()
      const request = { conversationId: id, agentName: scene.name('claude-code'), backend: 'scripted' }
      const started = await Promise.all(Array.from({ length: 5 }, () => scene.service.startSession(request)))
      assert.equal(started.filter(({ ok }) => ok).length, 1)
      assert.equal((await scene.store.sessions.listForConversation(id, {})).items.length, 1)
    },
    'leaves nothing over when a handoff is cancelled': async (scene) => {
      const { handoff, source } = await scene.initiated()
      const { session } = unwrap(await scene.service.cancelHandoff({ handoff, reason: 'Not needed' }))
      const stored = await scene.store.sessions.find(source.session.id)
      assert.deepEqual(stored, session)
      const { version: _, ...before } = source.session
      const { version: __, ...after } = stored ?? session
      assert.deepEqual(after, before)
    },
    'keeps every end of a session': async (scene) => {
      const completed = unwrap(await scene.service.completeSession(await scene.worked('read_file'))).session
      const failed = unwrap(
        await scene.service.failSession({ ...(await scene.session()), reason: 'Out of money' }),
      ).session
      const paused = unwrap(await scene.service.pauseSession(await scene.session())).session
      for (const session of [completed, failed, paused]) {
        assert.deepEqual(await scene.store.sessions.find(session.id), session)
        assert.equal(await scene.store.sessions.findActive(session.conversationId), undefined)
      }
    },
    'keeps who holds a session': async (scene) => {
      const started = await scene.session()
      const taken = unwrap(await scene.service.takeOverSession(started))
      const late = await scene.service.recordTurn({ ...started, ...scene.turn('read_file') })
      assert.equal(refusal(late).code, 'session.superseded')
      // A fresh copy does not help: it is the token that is old.
      const session = (await scene.store.sessions.find(started.session.id)) ?? started.session
      const again = await scene.service.recordTurn({ session, holder: started.holder, ...scene.turn('read_file') })
      assert.equal(refusal(again).code, 'session.superseded')
      const done = unwrap(await scene.service.recordTurn({ ...taken, ...scene.turn('read_file') }))
      assert.deepEqual(await scene.store.sessions.find(started.session.id), done.session)
    },
    'continues after messages that others recorded while a session was paused': async (scene) => {
      const first = await scene.worked('read_file')
      unwrap(await scene.service.pauseSession(first))
      const conversation = unwrap(await scene.service.openConversation({ originalTask: 'unused' })).conversation
      assert.notEqual(conversation.id, first.session.conversationId)
      const second = unwrap(
        await scene.service.startSession({
          conversationId: first.session.conversationId,
          agentName: scene.name('other'),
          backend: 'scripted',
        }),
      )
      const worked = unwrap(await scene.service.recordTurn({ ...second, ...scene.turn('search') }))
      assert.equal(refusal(await scene.service.resumeSession(first)).code, 'conversation.session_active')
      unwrap(await scene.service.completeSession(worked))
      const resumed = unwrap(await scene.service.resumeSession(first))
      const after = unwrap(
        await scene.service.recordTurn({ ...resumed, holder: first.holder, ...scene.turn('run_tests') }),
      )
      assert.deepEqual(after.turns[0]?.range, { start: 5, end: 6 })
    },
    'lists the sessions of a conversation by epoch, page by page': async (scene) => {
      const conversation = await scene.conversation()
      for (const agent of ['one', 'two', 'three']) {
        unwrap(await scene.service.completeSession(await scene.session(scene.name(agent), conversation)))
      }
      const { sessions } = scene.store
      const first = await sessions.listForConversation(conversation.id, { limit: 2 })
      assert.deepEqual(
        first.items.map(({ epoch }) => epoch),
        [1, 2],
      )
      assert.ok(first.next)
      const rest = await sessions.listForConversation(conversation.id, { limit: 2, after: first.next })
      assert.deepEqual(
        rest.items.map(({ epoch }) => epoch),
        [3],
      )
      assert.equal(rest.next, undefined)
    },
  },
}
