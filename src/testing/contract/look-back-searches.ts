import assert from 'node:assert/strict'
import type { WorkingSession } from '../../domain/session/agent-session.ts'
import { unwrap } from '../../domain/unwrap.ts'
import type { ContractPart } from '../store-contract.ts'
import { calling, HARD, passOn, read, result, say, texts, words } from './looking-back.ts'

export const lookBackSearchesContract: ContractPart = {
  about: 'searching back',
  cases: {
    'searches newest first, stops at its bounds, and goes on where it stopped': async (scene) => {
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
      const said = [
        'Rate 50% of snake_case',
        'back\\slash and "quotes"',
        'rate 505 of snakeXcase',
        'ÄRGER in München',
        HARD,
      ]
      let working: WorkingSession = await scene.session()
      for (const text of said) working = await say(scene, working, { role: 'user', text })
      const scope = { conversationId: working.session.conversationId }
      const finds = async (asked: string, ...expected: readonly number[]) => {
        const found = await read(scene, scope, words(asked))
        assert.deepEqual(
          texts(found),
          expected.map((index) => said[index]),
          asked,
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
