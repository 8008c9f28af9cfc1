import assert from 'node:assert/strict'
import { LOOK_BACK_BOUNDS, type LookBackScope } from '../../domain/history/look-back-search.ts'
import { agentSessionId, conversationId } from '../../domain/kernel/ids.ts'
import type { MessageInput } from '../../domain/turn/turn.ts'
import { unwrap } from '../../domain/unwrap.ts'
import type { ContractPart } from '../store-contract.ts'
import { calling, HARD, passOn, placesOf, read, result, say, texts, wholeText, words } from './looking-back.ts'
import { assertIntact } from './trail.ts'

export const lookBacksContract: ContractPart = {
  about: 'looking back',
  cases: {
    'finds a call in an earlier window, and its result in the turn after it': async (scene) => {
      const started = await scene.session()
      const made = await say(scene, started, { role: 'user', text: 'Go' }, calling('toolu_1', 'Read', 'src/a.ts'))
      const answered = await say(scene, made, result('toolu_2', 'Other'), result('toolu_1', 'export const a = 1'))
      const between = await say(scene, await passOn(scene, answered), { role: 'user', text: 'On' })
      const later = await passOn(scene, between)
      const asked = await read(scene, { sessionId: later.session.id }, { by: 'call', callId: 'toolu_1' })
      assert.deepEqual(placesOf(asked), [
        [1, 1, 'assistant'],
        [1, 2, 'tool'],
      ])
      assert.deepEqual(asked.found[0]?.calls, [{ callId: 'toolu_1', toolName: 'Read', argument: 'src/a.ts' }])
      const { calls, answers, passage } = asked.found[1] ?? {}
      assert.deepEqual(
        { calls, answers, passage },
        {
          ...{ calls: [], answers: 'toolu_1', passage: { text: 'export const a = 1', before: 0, after: 0 } },
        },
      )
      assert.equal(asked.isResultMissing, undefined)
    },
    'finds a result that came while the session was being left, and says when there is none': async (scene) => {
      const started = await scene.session()
      const made = await say(scene, started, { role: 'user', text: 'Go' }, calling('late', 'Bash', 'npm test'))
      const scope = { sessionId: made.session.id }
      const before = await read(scene, scope, { by: 'call', callId: 'late' })
      assert.deepEqual([before.found.length, before.isResultMissing], [1, true])
      const to = { targetAgent: scene.name('opus'), reason: 'Full' }
      const { handoff } = unwrap(await scene.service.initiateHandoff({ session: made.session.id, byHand: true, ...to }))
      const { holder } = made
      unwrap(await scene.service.extendTurn({ handoff, holder, messages: [result('late', 'Green')] }))
      const after = await read(scene, scope, { by: 'call', callId: 'late' })
      assert.deepEqual([texts(after), after.isResultMissing], [['', 'Green'], undefined])
      assert.deepEqual(await read(scene, scope, { by: 'call', callId: 'LATE' }), { found: [], isMore: false })
    },
    'takes the latest use of a call id that came again': async (scene) => {
      const once = await say(scene, await scene.session(), calling('c', 'Read', 'old'), result('c', 'Old'))
      const twice = await say(scene, once, calling('c', 'Read', 'new'), result('c', 'New'))
      assert.deepEqual(texts(await read(scene, { sessionId: twice.session.id }, { by: 'call', callId: 'c' })), [
        '',
        'New',
      ])
    },
    'reads a turn in order, and what a window opened with': async (scene) => {
      const started = await scene.session(undefined, undefined, { prompt: 'Write the docs' })
      const one = await say(scene, started, { role: 'user', text: '1' }, { role: 'assistant', text: '2' })
      const two = await say(scene, one, { role: 'user', text: '3' }, calling('c', 'Read', 'a', '4'), result('c', '5'))
      const scope = { conversationId: two.session.conversationId }
      const ask = (epoch: number, turn: number, more = {}) => read(scene, scope, { by: 'turn', epoch, turn }, more)
      assert.deepEqual(texts(await ask(1, 0)), ['Write the docs'])
      assert.deepEqual(texts(await ask(1, 1)), ['1', '2'])
      const second = await ask(1, 2)
      assert.deepEqual([texts(second), second.isMore], [['3', '4', '5'], false])
      const first = await ask(1, 2, { messages: 2 })
      assert.deepEqual([texts(first), first.isMore], [['3', '4'], true])
      const from = { sequenceNumber: (first.found[1]?.sequenceNumber ?? 0) + 1, offset: 0 }
      assert.deepEqual(texts(await ask(1, 2, { messages: 2, from })), ['5'])
      for (const [epoch, turn] of [
        [1, 3],
        [2, 1],
        [2, 0],
      ] as const)
        assert.deepEqual(await ask(epoch, turn), { found: [], isMore: false })
    },
    'gives a long text in parts that add up to it, whatever characters it has': async (scene) => {
      const plain = `${'0123456789😀'.repeat(50)}end`
      const hard = HARD.repeat(30)
      const one = await say(scene, await scene.session(), calling('p', 'Read', 'p'), result('p', plain))
      const two = await say(scene, one, calling('h', 'Read', 'h'), result('h', hard))
      const scope = { sessionId: two.session.id }
      assert.equal(await wholeText(scene, scope, { by: 'call', callId: 'p' }, 100), plain)
      assert.equal(await wholeText(scene, scope, { by: 'call', callId: 'h' }, 100), hard)
      const [, part] = (await read(scene, scope, { by: 'call', callId: 'h' }, { characters: 7 })).found
      assert.deepEqual(part?.passage, {
        ...{ text: [...hard].slice(0, 7).join(''), before: 0, after: [...hard].length - 7 },
      })
    },
    'says that a text was cut when it was recorded': async (scene) => {
      const cut = { length: 2_000_000, sha256: 'a'.repeat(64) }
      const message: MessageInput = { role: 'user', text: 'The begin', cut }
      const { session } = await say(scene, await scene.session(), message)
      const { found } = await read(scene, { sessionId: session.id }, { by: 'turn', epoch: 1, turn: 1 })
      assert.deepEqual(found[0]?.passage, { text: 'The begin', before: 0, after: 0, cutFrom: 2_000_000 })
    },
    'shows so many calls of a message, and how many more there are': async (scene) => {
      const toolCalls = Array.from({ length: 7 }, (_, index) => ({ callId: `c${index}`, toolName: 'Read' }))
      const { session } = await say(scene, await scene.session(), { role: 'assistant', text: '', toolCalls })
      const { found } = await read(scene, { sessionId: session.id }, { by: 'turn', epoch: 1, turn: 1 }, { calls: 5 })
      assert.deepEqual(
        [found[0]?.calls.map(({ callId }) => callId), found[0]?.callsLeftOut],
        [...[['c0', 'c1', 'c2', 'c3', 'c4'], 2]],
      )
    },
    'sees no other conversation': async (scene) => {
      const other = await say(
        scene,
        await scene.session(),
        calling('foreign', 'Read', 'x', 'Secret'),
        result('foreign', 'y'),
      )
      const mine = await say(scene, await scene.session(), { role: 'user', text: 'Mine' })
      const next = await say(scene, await passOn(scene, mine), { role: 'user', text: 'On' })
      const scope = { sessionId: next.session.id }
      assert.deepEqual((await read(scene, scope, { by: 'call', callId: 'foreign' })).found, [])
      assert.deepEqual((await read(scene, scope, words('secret'))).found, [])
      const thread = unwrap(
        await scene.service.openThread({
          session: next.session.id,
          byHand: true,
          targetAgent: scene.name('sub'),
          reason: 'Part',
        }),
      )
      assert.deepEqual((await read(scene, { sessionId: thread.session.id }, words('mine'))).found, [])
      assert.equal(
        (await read(scene, { sessionId: other.session.id }, { by: 'call', callId: 'foreign' })).found.length,
        2,
      )
    },
    'answers nothing for a session or a conversation that does not exist': async (scene) => {
      const ask = (scope: LookBackScope) =>
        scene.store.lookBacks.read({
          ...{ scope, question: words('a'), needles: [['a']], bounds: { ...LOOK_BACK_BOUNDS, characters: 1_000 } },
        })
      assert.equal(await ask({ sessionId: agentSessionId(scene.ids.next()) }), undefined)
      assert.equal(await ask({ conversationId: conversationId(scene.ids.next()) }), undefined)
    },
    'keeps what was asked with the handoff it came from, and moves nothing': async (scene) => {
      const first = await say(scene, await scene.session(), { role: 'user', text: 'Go' })
      const next = await passOn(scene, first)
      const { session } = next
      const before = await scene.store.sessions.find(session.id)
      for (const [by, text, found] of [
        ['call', 'toolu_1', 2],
        ['words', 'flaky test', 0],
      ] as const) {
        unwrap(await scene.service.recordLookBack({ session: session.id, by, text, found }))
        scene.clock.advance(1)
      }
      assert.deepEqual(await scene.store.sessions.find(session.id), before)
      // A turn decided before the question was recorded is kept without another look.
      await say(scene, next, { role: 'user', text: 'On' })
      const { items, next: more } = await scene.history.lookBacks(session.conversationId, { limit: 1 })
      assert.deepEqual(
        items.map(({ by, text, found, epoch, handoffId, sessionId }) => [by, text, found, epoch, handoffId, sessionId]),
        [['call', 'toolu_1', 2, 2, session.initiatedByHandoff, session.id]],
      )
      assert.ok(more)
      const rest = await scene.history.lookBacks(session.conversationId, { after: more })
      assert.deepEqual(
        rest.items.map(({ by, text }) => [by, text]),
        [['words', 'flaky test']],
      )
      const counts = await scene.history.lookBackCounts([session.id, first.session.id])
      assert.deepEqual([...counts], [[session.id, 2]])
      await assertIntact(scene, session.conversationId)
    },
  },
}
