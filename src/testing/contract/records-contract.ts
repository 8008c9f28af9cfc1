import assert from 'node:assert/strict'
import { foldHistory } from '../../domain/history/history.ts'
import { defined } from '../../domain/kernel/defined.ts'
import { agentSessionId, snapshotId, turnId } from '../../domain/kernel/ids.ts'
import { withholdTexts } from '../../domain/kernel/texts.ts'
import { unwrap } from '../../domain/unwrap.ts'
import type { ContractPart } from '../store-contract.ts'
import { assertIntact } from './trail.ts'

export const recordsContract: ContractPart = {
  about: 'turns, snapshots and the audit log',
  cases: {
    'reads back turns with their tool calls, in order': async (scene) => {
      const started = await scene.session()
      const first = await scene.work(started, 'read_file', 'run_tests')
      const second = await scene.work(first)
      const stored = await scene.store.messages.listTurns(started.session.id, {})
      assert.deepEqual(stored.items, [...first.turns, ...second.turns])
      assert.equal(stored.items[0]?.toolCalls.length, 2)
      const [turn] = first.turns
      assert.deepEqual(turn && (await scene.store.messages.findTurn(turn.id)), turn)
      assert.equal(await scene.store.messages.findTurn(turnId(scene.ids.next())), undefined)
    },
    'reads back messages by sequence number, whatever their text': async (scene) => {
      const started = await scene.session()
      const texts = ['plain', '', 'çé漢字🎉', 'a "quoted" \\ line\nand another\t', '{"$ref": 1}', `'; drop table x; --`]
      const messages = texts.map((text) => ({ role: 'user' as const, text }))
      unwrap(await scene.service.recordTurn({ ...started, messages }))
      const first = await scene.store.messages.listMessages(started.session.conversationId, { limit: 4 })
      assert.ok(first.next)
      const rest = await scene.store.messages.listMessages(started.session.conversationId, { after: first.next })
      const all = [...first.items, ...rest.items]
      assert.deepEqual(
        all.map(({ text }) => text),
        texts,
      )
      assert.deepEqual(
        all.map(({ sequenceNumber }) => sequenceNumber),
        [1, 2, 3, 4, 5, 6],
      )
    },
    'reads back which text a cut one is the beginning of, and holds it against the log': async (scene) => {
      const started = await scene.session()
      const cut = { length: 1_234_567, sha256: 'ab'.repeat(32) }
      const messages = [
        { role: 'tool' as const, text: 'The beginning', cut },
        { role: 'user' as const, text: 'Whole' },
      ]
      unwrap(await scene.service.recordTurn({ ...started, messages }))
      const { items } = await scene.store.messages.listMessages(started.session.conversationId, {})
      assert.deepEqual(
        items.map((message) => message.cut),
        [cut, undefined],
      )
      await assertIntact(scene, started.session.conversationId)
    },
    'reads back what tells one call from another, on one line, and holds it against the log': async (scene) => {
      const started = await scene.session()
      const { conversationId, id } = started.session
      const toolCalls = [
        { callId: 'call-1', toolName: 'Bash', argument: 'npm test\n-- checkout' },
        { callId: 'call-2', toolName: 'Bash', argument: `echo \u0000 ${'🎉'.repeat(300)}` },
        { callId: 'call-3', toolName: 'Bash' },
      ]
      const messages = [{ role: 'assistant' as const, text: '', toolCalls }]
      const worked = unwrap(await scene.service.recordTurn({ ...started, messages }))
      const expected = ['npm test -- checkout', `echo ${'🎉'.repeat(117)}…`, undefined]
      const argumentsOf = (calls: readonly { readonly argument?: string }[] = []) =>
        calls.map(({ argument }) => argument)
      assert.deepEqual(argumentsOf(worked.turns[0]?.toolCalls), expected)
      const { items } = await scene.store.messages.listTurns(id, {})
      assert.deepEqual(items, worked.turns)
      const found = await scene.store.messages.findToolCalls(conversationId, ['call-2', 'call-1', 'call-3'])
      assert.deepEqual(argumentsOf(found), expected)
      const { handoff } = unwrap(await scene.service.initiateHandoff({ ...worked, targetAgent: scene.name('opus') }))
      assert.ok(handoff.triggeringToolCalls.every((call) => !('argument' in call)))
      assert.deepEqual(await scene.store.handoffs.find(handoff.id), handoff)
      await assertIntact(scene, conversationId)
    },
    'reads the latest of what was said in one session, in order, and not what it opened with': async (scene) => {
      const { conversation } = unwrap(await scene.service.openConversation({ originalTask: 'Fix it' }))
      const agent = { conversationId: conversation.id, agentName: scene.name('claude'), backend: 'scripted' }
      const first = unwrap(await scene.service.startSession({ ...agent, prompt: 'Opening' }))
      const saying = (text: string) => ({ messages: [{ role: 'user' as const, text }] })
      let worked = { ...first, ...unwrap(await scene.service.recordTurn({ ...first, ...saying('one') })) }
      worked = { ...worked, ...unwrap(await scene.service.recordTurn({ ...worked, ...saying('two') })) }
      unwrap(await scene.service.completeSession(worked))
      const next = unwrap(await scene.service.startSession(agent))
      unwrap(await scene.service.recordTurn({ ...next, ...saying('three') }))
      const latest = async (most: number) =>
        (await scene.store.messages.listLatest(first.session.id, most)).map(({ text }) => text)
      assert.deepEqual(await latest(10), ['one', 'two'])
      assert.deepEqual(await latest(1), ['two'])
      assert.deepEqual(await latest(0), [])
      const { items } = await scene.store.messages.listMessages(conversation.id, {})
      const { metadata: _, ...second } = items[2] ?? { metadata: undefined }
      assert.deepEqual((await scene.store.messages.listLatest(first.session.id, 1))[0], second)
      assert.deepEqual(await scene.store.messages.listLatest(agentSessionId(scene.ids.next()), 5), [])
    },
    'joins messages with the handoffs they have to do with': async (scene) => {
      const { handoff, source } = await scene.initiated()
      const target = unwrap(await scene.service.completeHandoff({ handoff }))
      await scene.work(await scene.work(target, 'search'), 'search')
      const { items } = await scene.store.messages.listMessages(handoff.conversationId, {})
      const [from, to] = [source.session.id, target.session.id]
      const { listSessionMessages } = scene.store.messages
      assert.deepEqual((await listSessionMessages(from, {})).items, items.slice(0, 2))
      const page = await listSessionMessages(to, { limit: 2 })
      assert.deepEqual(page.items, items.slice(2, 4))
      assert.deepEqual((await listSessionMessages(to, defined({ after: page.next }))).items, items.slice(4))
      assert.deepEqual(await listSessionMessages(agentSessionId(scene.ids.next()), {}), { items: [] })
      assert.deepEqual(
        items.map(({ metadata }) => metadata),
        [
          { sessionId: from, ledTo: handoff.id },
          { sessionId: from, ledTo: handoff.id },
          { sessionId: to, continues: handoff.id },
          { sessionId: to, continues: handoff.id },
          { sessionId: to, continues: handoff.id },
          { sessionId: to },
          { sessionId: to },
        ],
      )
    },
    'computes snapshots from what was recorded': async (scene) => {
      const started = await scene.session()
      const first = await scene.work(started, 'read_file')
      const second = await scene.work(first, 'run_tests')
      const { snapshot } = unwrap(await scene.service.captureSnapshot(second))
      const stored = await scene.store.snapshots.find(snapshot.id)
      assert.deepEqual(stored, snapshot)
      assert.deepEqual(stored?.messages, { user: 2, assistant: 2, tool: 0, system: 0 })
      assert.deepEqual(stored?.range, { start: 1, end: 4 })
      assert.deepEqual(stored?.usage, second.turns[0]?.usage)
      assert.deepEqual(
        stored?.visibleToolCalls,
        [...first.turns, ...second.turns].flatMap(({ toolCalls }) => toolCalls),
      )
      assert.deepEqual(await scene.store.snapshots.findLatest(started.session.id), stored)
      await scene.work(second, 'search')
      assert.deepEqual(await scene.store.snapshots.find(snapshot.id), stored)
      assert.equal(await scene.store.snapshots.find(snapshotId(scene.ids.next())), undefined)
    },
    'lists the snapshots of a session in the order they were taken': async (scene) => {
      const { handoff, source } = await scene.initiated()
      unwrap(await scene.service.captureSnapshot({ session: source.session.id }))
      const { items } = await scene.store.snapshots.listForSession(source.session.id, {})
      assert.deepEqual(
        items.map(({ type }) => type),
        ['session_start', 'handoff_initiated', 'on_demand'],
      )
      const first = await scene.store.snapshots.listForSession(source.session.id, { limit: 2 })
      assert.ok(first.next)
      const rest = await scene.store.snapshots.listForSession(source.session.id, { limit: 2, after: first.next })
      assert.deepEqual([...first.items, ...rest.items], items)
      const { session } = unwrap(await scene.service.completeHandoff({ handoff }))
      const opening = await scene.store.snapshots.findLatest(session.id)
      assert.equal(opening?.type, 'session_start')
      assert.deepEqual(opening?.messages, { user: 1, assistant: 0, tool: 0, system: 0 })
    },
    'numbers the audit log without a gap, each entry with its command': async (scene) => {
      const { handoff } = await scene.initiated()
      unwrap(await scene.service.completeHandoff({ handoff }))
      const whole = await scene.store.audit.list(handoff.conversationId, {})
      assert.deepEqual(
        whole.items.map(({ position }) => position),
        whole.items.map((_, index) => index + 1),
      )
      assert.deepEqual(
        whole.items.map(({ event }) => event.type),
        [
          'conversation.opened',
          'session.started',
          'snapshot.captured',
          'turn.recorded',
          'handoff.initiated',
          'session.held',
          'snapshot.captured',
          'handoff.accepted',
          'session.handed_off',
          'session.started',
          'snapshot.captured',
          'handoff.completed',
        ],
      )
      const first = await scene.store.audit.list(handoff.conversationId, { limit: 5 })
      assert.ok(first.next)
      const rest = await scene.store.audit.list(handoff.conversationId, { after: first.next })
      assert.deepEqual([...first.items, ...rest.items], whole.items)
      assert.equal(new Set(whole.items.map(({ commandId }) => commandId)).size, 5)
    },
    'keeps texts out of the audit log, and state equal to its fold': async (scene) => {
      const { handoff, source } = await scene.initiated({ document: 'SECRET-DOCUMENT', reason: 'SECRET-REASON' })
      const { conversationId } = handoff
      unwrap(await scene.service.cancelHandoff({ handoff, reason: 'SECRET-END' }))
      const { items } = await scene.store.audit.list(conversationId, {})
      assert.equal(JSON.stringify(items).includes('SECRET'), false)
      const history = foldHistory(items.map(({ event }) => event))
      const stored = await scene.store.sessions.find(source.session.id)
      assert.deepEqual(history.sessions.get(source.session.id), withholdTexts(stored))
      assert.deepEqual(history.handoffs.get(handoff.id), withholdTexts(await scene.store.handoffs.find(handoff.id)))
      assert.deepEqual(
        history.conversations.get(conversationId),
        withholdTexts(await scene.store.conversations.find(conversationId)),
      )
    },
  },
}
