import assert from 'node:assert/strict'
import { agentSessionId, commandId } from '../../domain/kernel/ids.ts'
import type { Metadata } from '../../domain/kernel/metadata.ts'
import { unwrap } from '../../domain/unwrap.ts'
import { refusal } from '../expected-refusal.ts'
import type { Scene } from '../scene.ts'
import type { ContractPart } from '../store-contract.ts'
import { ask } from './ready-commands.ts'
import { assertIntact, kindsOf } from './trail.ts'

/** A note with everything in it that JSON has, and what stores have trouble with. */
const note = (scene: Scene): Metadata => ({
  ticket: scene.name('T-1'),
  nested: { deep: [1, 'two', null, { three: true }], empty: {}, none: [] },
  awkward: 'a\u0000b \ud800 \uf8ff0 "quoted" 🎉',
  'a key with a space': -1.5e300,
})

const revoked = (): object => {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

export const notesContract: ContractPart = {
  about: "the caller's own notes, and closing a conversation",
  cases: {
    'reads back exactly the note of a conversation, a session and a handoff': async (scene) => {
      const metadata = note(scene)
      const { conversation } = unwrap(await scene.service.openConversation({ originalTask: 'Fix it', metadata }))
      assert.deepEqual(conversation.metadata, metadata)
      assert.deepEqual(await scene.store.conversations.find(conversation.id), conversation)
      const started = await scene.session(scene.name('one'), conversation, { metadata })
      assert.deepEqual((await scene.store.sessions.find(started.session.id))?.metadata, metadata)
      const worked = await scene.work(started, 'read_file')
      assert.deepEqual(worked.session.metadata, metadata)
      const to = { targetAgent: scene.name('opus'), metadata }
      const { handoff } = unwrap(await scene.service.initiateHandoff({ ...worked, ...to }))
      assert.deepEqual((await scene.store.handoffs.find(handoff.id))?.metadata, metadata)
      const done = unwrap(await scene.service.completeHandoff({ handoff }))
      assert.deepEqual(done.handoff.metadata, metadata)
      assert.deepEqual(await scene.store.handoffs.find(handoff.id), done.handoff)
      assert.deepEqual((await scene.store.sessions.find(started.session.id))?.metadata, metadata)
      await assertIntact(scene, conversation.id)
    },
    'replaces a note at any time, moves nothing else, and takes it away when it is empty': async (scene) => {
      const { service, store } = scene
      const source = await scene.worked('read_file')
      const { conversationId } = source.session
      const { handoff } = unwrap(await service.initiateHandoff({ ...source, targetAgent: scene.name('opus') }))
      const done = unwrap(await service.completeHandoff({ handoff }))
      const metadata = note(scene)
      const noted = unwrap(await service.setSessionMetadata({ session: source.session.id, byHand: true, metadata }))
      assert.deepEqual(await store.sessions.find(source.session.id), noted.session)
      const { metadata: _, ...rest } = noted.session
      assert.equal(rest.state, 'handed_off')
      unwrap(await service.setHandoffMetadata({ handoff, metadata }))
      assert.deepEqual(await store.handoffs.find(handoff.id), { ...done.handoff, metadata })
      unwrap(await service.setConversationMetadata({ conversation: conversationId, metadata }))
      assert.deepEqual((await store.conversations.find(conversationId))?.metadata, metadata)
      await assertIntact(scene, conversationId)
      unwrap(await service.setSessionMetadata({ session: source.session.id, byHand: true, metadata: {} }))
      assert.deepEqual(await store.sessions.find(source.session.id), rest)
      // A note does not disturb the holder of the session.
      unwrap(await service.setSessionMetadata({ session: done.session.id, byHand: true, metadata }))
      const turned = unwrap(await service.recordTurn({ ...done, ...scene.turn('run_tests') }))
      assert.equal(turned.session.version, done.session.version + 1)
      assert.deepEqual((await store.sessions.find(done.session.id))?.metadata, metadata)
      await assertIntact(scene, conversationId)
    },
    'finds by what a note contains': async (scene) => {
      const { service, history } = scene
      const metadata = note(scene)
      const { conversation } = unwrap(await service.openConversation({ originalTask: 'Fix it', metadata }))
      const started = await scene.session(scene.name('one'), conversation, { metadata })
      const worked = await scene.work(started, 'read_file')
      const to = { targetAgent: scene.name('opus'), metadata }
      const { handoff } = unwrap(await service.initiateHandoff({ ...worked, ...to }))
      const ticket = { ticket: scene.name('T-1') }
      const contents = [
        ticket,
        { ...ticket, nested: { deep: ['two', { three: true }] } },
        { ...ticket, nested: {} },
        metadata,
      ]
      for (const filter of contents.map((contained) => ({ metadata: contained }))) {
        assert.deepEqual((await history.listConversations(filter)).items, [conversation])
        assert.deepEqual(
          (await history.listSessions(filter)).items.map(({ id }) => id),
          [started.session.id],
        )
        assert.deepEqual((await history.listHandoffs(filter)).items, [handoff])
      }
      for (const contained of [{ ...ticket, nested: { deep: 1 } }, { ...ticket, other: null }, { ticket: 'T' }]) {
        const filter = { metadata: contained }
        assert.deepEqual((await history.listConversations(filter)).items, [])
        assert.deepEqual((await history.listHandoffs(filter)).items, [])
      }
    },
    'refuses a note that is no JSON, too deep or too long': async (scene) => {
      const deep = Array.from({ length: 20 }).reduce<object>((inner) => ({ inner }), {})
      const cyclic: Record<string, unknown> = {}
      cyclic.self = cyclic
      const wrong = [
        { a: Number.NaN },
        { a: 1n },
        { a: () => 1 },
        { a: new Date(0) },
        { a: new Map() },
        { a: Object('boxed') },
        { a: [revoked()] },
        [],
        'text',
        Object('boxed'),
        new Map(),
        revoked(),
        null,
        deep,
        cyclic,
        { a: 'x'.repeat(17_000) },
      ]
      const named = [JSON.parse('{"__proto__": 1}'), { 'a\u0000': 1 }, { '\ud800': 1 }]
      for (const metadata of [...wrong, ...named]) {
        const refused = refusal(await ask(scene, 'openConversation', { originalTask: 'Fix it', metadata }))
        assert.ok(refused.code === 'input.invalid' && refused.fields[0]?.field.startsWith('metadata'))
      }
    },
    'starts no session in a closed conversation, until it is reopened': async (scene) => {
      const { service, store } = scene
      const source = await scene.worked('read_file')
      const { conversationId } = source.session
      const active = refusal(await service.closeConversation({ conversation: conversationId }))
      assert.equal(active.code, 'conversation.session_active')
      unwrap(await service.pauseSession(source))
      const { conversation } = unwrap(await service.closeConversation({ conversation: conversationId }))
      assert.equal(conversation.closedAt, scene.clock.now())
      assert.deepEqual(await store.conversations.find(conversationId), conversation)
      const agent = { conversationId, agentName: scene.name('two'), backend: 'scripted' }
      const closed = { code: 'conversation.closed', conversationId, since: conversation.closedAt }
      assert.deepEqual(refusal(await service.startSession(agent)), closed)
      assert.deepEqual(refusal(await service.resumeSession({ session: source.session.id, byHand: true })), closed)
      assert.deepEqual(refusal(await service.closeConversation({ conversation })), closed)
      await assertIntact(scene, conversationId)
      const reopened = unwrap(await service.reopenConversation({ conversation }))
      assert.equal('closedAt' in reopened.conversation, false)
      assert.deepEqual(await store.conversations.find(conversationId), reopened.conversation)
      assert.equal(refusal(await service.reopenConversation({ conversation })).code, 'conversation.open')
      unwrap(await service.resumeSession({ session: source.session.id, byHand: true }))
      assert.deepEqual((await kindsOf(scene, conversationId)).slice(-3), [
        'conversation.closed',
        'conversation.reopened',
        'session.resumed',
      ])
      await assertIntact(scene, conversationId)
    },
    'closes or starts, never both, however many try': async (scene) => {
      for (let round = 0; round < 10; round += 1) {
        const { id: conversationId } = await scene.conversation()
        const agent = { conversationId, agentName: scene.name('one'), backend: 'scripted' }
        const [closed, started] = await Promise.all([
          scene.service.closeConversation({ conversation: conversationId }),
          scene.service.startSession(agent),
        ])
        assert.notEqual(closed.ok, started.ok)
        const stored = await scene.store.conversations.find(conversationId)
        assert.equal(stored?.closedAt !== undefined, closed.ok)
        assert.equal((await scene.store.sessions.findActive(conversationId)) !== undefined, started.ok)
      }
    },
    'lists open and closed conversations apart': async (scene) => {
      const metadata = { ticket: scene.name('T-2') }
      const made = []
      for (let count = 0; count < 2; count += 1)
        made.push(unwrap(await scene.service.openConversation({ originalTask: 'Fix it', metadata })).conversation)
      const [first, second] = made
      assert.ok(first && second)
      const { conversation } = unwrap(await scene.service.closeConversation({ conversation: first }))
      assert.deepEqual((await scene.history.listConversations({ metadata, state: 'closed' })).items, [conversation])
      assert.deepEqual((await scene.history.listConversations({ metadata, state: 'open' })).items, [second])
    },
    'starts a session only under a parent that is there': async (scene) => {
      const source = await scene.worked('read_file')
      unwrap(await scene.service.completeSession(source))
      const { conversationId } = source.session
      const agent = { conversationId, agentName: scene.name('two'), backend: 'scripted' }
      const nobody = agentSessionId(scene.ids.next())
      const missing = refusal(await scene.service.startSession({ ...agent, parentSessionId: nobody }))
      assert.deepEqual(missing, { code: 'session.not_found', sessionId: nobody })
      const child = unwrap(await scene.service.startSession({ ...agent, parentSessionId: source.session.id }))
      assert.equal(child.session.parentSessionId, source.session.id)
      // A helper may work in a conversation of its own.
      const helper = await scene.session(scene.name('helper'), undefined, { parentSessionId: source.session.id })
      assert.deepEqual(await scene.store.sessions.find(helper.session.id), helper.session)
    },
    'refuses an id for a session that the conversation already has': async (scene) => {
      const source = await scene.worked('read_file')
      unwrap(await scene.service.completeSession(source))
      const { conversationId, id: sessionId } = source.session
      const agent = { conversationId, sessionId, agentName: scene.name('two'), backend: 'scripted' }
      const refused = refusal(await scene.service.startSession(agent))
      assert.equal(refused.code === 'input.invalid' && refused.fields[0]?.field, 'sessionId')
    },
    'answers a repeated turn, and a repeated message, with the signals of the first': async (scene) => {
      const started = await scene.session(scene.name('one'), undefined, { monitor: { contextLimit: 100_000 } })
      const usage = { state: 'metered', promptTokens: 55_000, outputTokens: 100 } as const
      const turn = { ...scene.turn('read_file'), usage, commandId: commandId(scene.ids.next()) }
      const first = unwrap(await scene.service.recordTurn({ ...started, ...turn }))
      assert.equal(first.signals?.length, 1)
      const send = { session: started.session.id, text: 'Look here', commandId: commandId(scene.ids.next()) }
      const sent = unwrap(await scene.context.send(send))
      const ids = [...(first.signals ?? []), ...sent.signals].map(({ id }) => id)
      assert.equal(await scene.context.acknowledge(started.session.id, ids.slice(0, 1)), 1)
      assert.deepEqual(unwrap(await scene.service.recordTurn({ ...started, ...turn })), first)
      assert.deepEqual(unwrap(await scene.context.send(send)), sent)
      assert.equal((await scene.context.signals(started.session.id)).items.length, 2)
    },
    'takes a picture for whatever the caller says': async (scene) => {
      const source = await scene.worked('read_file')
      const { snapshot } = unwrap(await scene.service.captureSnapshot({ ...source, type: 'checkpoint' }))
      assert.equal((await scene.store.snapshots.findLatest(source.session.id))?.type, 'checkpoint')
      assert.equal(snapshot.type, 'checkpoint')
    },
  },
}
