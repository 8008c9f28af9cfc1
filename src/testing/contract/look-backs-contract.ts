import assert from 'node:assert/strict'
import type { LookBackQuestion } from '../../domain/history/look-back.ts'
import {
  LOOK_BACK_BOUNDS,
  type LookBackBounds,
  type LookBackPoint,
  type LookBackRead,
  type LookBackScope,
  needlesOf,
} from '../../domain/history/look-back-search.ts'
import { defined } from '../../domain/kernel/defined.ts'
import { agentSessionId, conversationId } from '../../domain/kernel/ids.ts'
import type { WorkingSession } from '../../domain/session/agent-session.ts'
import type { MessageInput } from '../../domain/turn/turn.ts'
import { unwrap } from '../../domain/unwrap.ts'
import type { Scene } from '../scene.ts'
import type { ContractPart } from '../store-contract.ts'
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
      const answer = await read(scene, { sessionId: later.session.id }, { by: 'call', callId: 'toolu_1' })
      assert.deepEqual(placesOf(answer), [
        [1, 1, 'assistant'],
        [1, 2, 'tool'],
      ])
      assert.deepEqual(answer.found[0]?.calls, [{ callId: 'toolu_1', toolName: 'Read', argument: 'src/a.ts' }])
      const { calls, answers, passage } = answer.found[1] ?? {}
      assert.deepEqual(
        { calls, answers, passage },
        {
          ...{ calls: [], answers: 'toolu_1', passage: { text: 'export const a = 1', before: 0, after: 0 } },
        },
      )
      assert.equal(answer.isResultMissing, undefined)
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

export const lookBackSearchesContract: ContractPart = {
  about: 'searching back',
  cases: {
    'searches newest first, stops at its bounds, and continues where it stopped': async (scene) => {
      let working: WorkingSession = await scene.session()
      for (const number of [1, 2, 3, 4, 5, 6]) {
        const text = number % 2 === 0 ? `even ${number}` : `odd ${number}`
        working = await say(scene, working, { role: 'user', text })
      }
      const scope = { conversationId: working.session.conversationId }
      const first = await read(scene, scope, words('even'), { searched: 3 })
      assert.deepEqual([texts(first), first.searchedBackTo?.turn], [['even 6', 'even 4'], 4])
      const from = { sequenceNumber: first.searchedBackTo?.sequenceNumber ?? 0, offset: 0 }
      const rest = await read(scene, scope, words('even'), { searched: 3, from })
      assert.deepEqual([texts(rest), rest.searchedBackTo], [['even 2'], undefined])
      const one = await read(scene, scope, words('even'), { messages: 1 })
      assert.deepEqual([texts(one), one.searchedBackTo?.turn], [['even 6'], 6])
      const few = await read(scene, scope, words('odd'), { searchedBytes: 10 })
      assert.deepEqual([texts(few), few.searchedBackTo?.turn], [['odd 5'], 5])
    },
    'finds words anywhere in a text, with A to Z in either case and everything else as it is': async (scene) => {
      const messages = [
        'Rate 50% of snake_case',
        'back\\slash and "quotes"',
        'rate 505 of snakeXcase',
        'ÄRGER in München',
        HARD,
      ]
      let working: WorkingSession = await scene.session()
      for (const text of messages) working = await say(scene, working, { role: 'user', text })
      const scope = { conversationId: working.session.conversationId }
      const finds = async (text: string, ...expected: readonly number[]) => {
        const found = await read(scene, scope, words(text))
        assert.deepEqual(
          texts(found),
          expected.map((index) => messages[index]),
          text,
        )
      }
      await finds('RATE', 2, 0)
      await finds('50%', 0)
      await finds('snake_case', 0)
      await finds('E_C', 0)
      await finds('k\\s', 1)
      await finds('of rate', 2, 0)
      await finds('ärger münchen', 3)
      await finds('ÄRGER MÜNCHEN', 3)
      await finds('arger')
      await finds('😀b', 4)
      await finds('\u0000C', 4)
      await finds('d800')
      await finds('%', 0)
      await finds('5_')
    },
    'shows what is around the first match of a long text': async (scene) => {
      const long = `${'x'.repeat(1_000)}needle${'y'.repeat(1_000)}`
      const hard = `${HARD.repeat(100)}needle${'z'.repeat(1_000)}`
      let working: WorkingSession = await scene.session()
      for (const text of [long, hard]) working = await say(scene, working, { role: 'user', text })
      const { found } = await read(scene, { conversationId: working.session.conversationId }, words('NEEDLE'))
      const [inHard, inLong] = found.map(({ passage }) => passage)
      const characters = [...hard]
      const place = [...HARD].length * 100
      assert.deepEqual(inLong, { text: long.slice(800, 1_400), before: 800, after: long.length - 1_400 })
      assert.deepEqual(inHard, {
        text: characters.slice(place - 200, place + 400).join(''),
        before: place - 200,
        after: characters.length - place - 400,
      })
    },
    'finds words in tool calls too, and files only in calls and results': async (scene) => {
      let working: WorkingSession = await scene.session()
      working = await say(scene, working, { role: 'user', text: 'Look at src/Flaky.ts' })
      working = await say(scene, working, calling('c1', 'Read', 'src/flaky.ts', 'I read it'), result('c1', 'let a = 1'))
      working = await say(scene, working, result('c2', 'src/flaky.ts:3: error'))
      const scope = { conversationId: working.session.conversationId }
      const byWords = await read(scene, scope, words('flaky.ts read'))
      assert.deepEqual(texts(byWords), ['I read it'])
      assert.deepEqual(
        byWords.found[0]?.calls.map(({ callId }) => callId),
        ['c1'],
      )
      const byFile = await read(scene, scope, { by: 'file', name: 'flaky.TS' })
      assert.deepEqual(texts(byFile), ['src/flaky.ts:3: error', 'I read it'])
    },
    'leaves out of a search what the window of the session holds': async (scene) => {
      const first = await say(scene, await scene.session(), { role: 'user', text: 'The word in window one' })
      const own = { sessionId: first.session.id }
      assert.deepEqual(texts(await read(scene, own, words('word'))), [])
      const second = await say(scene, await passOn(scene, first), { role: 'user', text: 'The word in window two' })
      const scope = { sessionId: second.session.id }
      assert.deepEqual(texts(await read(scene, scope, words('word'))), ['The word in window one'])
      const report = { type: 'compaction' as const, trigger: 'auto' as const }
      unwrap(await scene.context.report({ session: second.session.id, report }))
      // What it opened with repeats the words of the person.
      const [newest, opening = '', oldest] = texts(await read(scene, scope, words('word')))
      assert.deepEqual([newest, oldest], ['The word in window two', 'The word in window one'])
      assert.match(opening, /The word in window one/)
    },
  },
}

type Bounds = Partial<LookBackBounds>

/** Reads what a question asks for, within these bounds. */
const read = async (
  { store }: Scene,
  scope: LookBackScope,
  question: LookBackQuestion,
  { from, ...bounds }: Bounds & { readonly from?: LookBackPoint } = {},
): Promise<LookBackRead> => {
  const all = { ...LOOK_BACK_BOUNDS, characters: 8_000, ...bounds }
  const found = await store.lookBacks.read(
    defined({ scope, question, needles: needlesOf(question), from, bounds: all }),
  )
  assert.ok(found)
  return found
}

/** A question by words. */
const words = (text: string): LookBackQuestion => ({ by: 'words', words: text })

/** The texts that were found. */
const texts = ({ found }: LookBackRead): readonly string[] => found.map(({ passage }) => passage.text)

/** Records a turn of these messages. */
const say = async (scene: Scene, working: WorkingSession, ...messages: readonly MessageInput[]) =>
  ({ ...working, ...unwrap(await scene.service.recordTurn({ ...working, messages })) }) satisfies WorkingSession

/** An answer that calls a tool. */
const calling = (callId: string, toolName: string, argument: string, text = ''): MessageInput => ({
  ...{ role: 'assistant', text, toolCalls: [{ callId, toolName, argument }] },
})

/** The result of a call. */
const result = (callId: string, text: string): MessageInput => ({
  role: 'tool',
  text,
  providerMessageId: callId,
})

/** Hands a conversation over to its next window. */
const passOn = async (scene: Scene, { session }: WorkingSession): Promise<WorkingSession> => {
  const to = { targetAgent: scene.name(`agent-${session.epoch}`), reason: 'The window is nearly full' }
  const { handoff } = unwrap(await scene.service.initiateHandoff({ session: session.id, byHand: true, ...to }))
  unwrap(await scene.service.acceptHandoff({ handoff, claimant: 'worker' }))
  const { session: next, holder } = unwrap(await scene.service.completeHandoff({ handoff, claimant: 'worker' }))
  assert.ok(holder)
  return { session: next, holder }
}

/** The windows, turns and roles that were found. */
const placesOf = ({ found }: LookBackRead) => found.map(({ epoch, turn, role }) => [epoch, turn, role])

/** Characters that stores have trouble with: two units, half of two, none, and the mark of an escape. */
const HARD = 'a😀b\u0000c\ud800d\uf8ffe\uf8ff0f'

/** Reads every part of a text, so many characters at a time. */
const wholeText = async (scene: Scene, scope: LookBackScope, question: LookBackQuestion, characters: number) => {
  const parts: string[] = []
  let from: LookBackPoint | undefined
  for (let reads = 0; reads < 100; reads += 1) {
    const { found } = await read(scene, scope, question, defined({ characters, from }))
    const hit = found.at(-1)
    assert.ok(hit)
    const { text, before, after } = hit.passage
    parts.push(text)
    assert.ok([...text].length <= characters)
    if (after === 0) return parts.join('')
    from = { sequenceNumber: hit.sequenceNumber, offset: before + [...text].length }
  }
  return assert.fail('The text never ends')
}
