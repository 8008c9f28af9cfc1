import assert from 'node:assert/strict'
import type { ConversationId } from '../../domain/kernel/ids.ts'
import { advance } from '../../domain/kernel/sequence.ts'
import { unwrap } from '../../domain/unwrap.ts'
import { refusal } from '../expected-refusal.ts'
import type { Scene } from '../scene.ts'
import type { ContractPart } from '../store-contract.ts'
import { assertIntact } from './trail.ts'

const originsIn = async (scene: Scene, conversation: ConversationId) => {
  const { items } = await scene.store.messages.listMessages(conversation, {})
  return items.map(({ role, origin, text }) => [role, origin, text])
}

export const originsContract: ContractPart = {
  about: 'where messages come from',
  cases: {
    'keeps the origin of each message, and holds it against the log': async (scene) => {
      const started = await scene.session()
      const messages = [
        { role: 'user' as const, text: 'No, in British English' },
        { role: 'user' as const, text: 'Use pnpm here.', origin: 'hook' as const },
        { role: 'user' as const, text: 'The session so far: …', origin: 'runtime' as const },
        { role: 'user' as const, text: 'Push it.', origin: 'unknown' as const },
        { role: 'system' as const, text: 'You are careful.', origin: 'person' as const },
        { role: 'assistant' as const, text: 'Done' },
        { role: 'tool' as const, text: 'ok' },
        { role: 'system' as const, text: 'Compacted' },
      ]
      unwrap(await scene.service.recordTurn({ ...started, messages }))
      const { conversationId } = started.session
      assert.deepEqual(await originsIn(scene, conversationId), [
        ['user', 'person', 'No, in British English'],
        ['user', 'hook', 'Use pnpm here.'],
        ['user', 'runtime', 'The session so far: …'],
        ['user', 'unknown', 'Push it.'],
        ['system', 'person', 'You are careful.'],
        ['assistant', 'runtime', 'Done'],
        ['tool', 'tool', 'ok'],
        ['system', 'runtime', 'Compacted'],
      ])
      await assertIntact(scene, conversationId)
    },
    'takes no origin that a role cannot have': async (scene) => {
      const started = await scene.session()
      for (const message of [
        { role: 'assistant' as const, text: 'Done', origin: 'person' as const },
        { role: 'tool' as const, text: 'ok', origin: 'person' as const },
        { role: 'user' as const, text: 'ok', origin: 'tool' as const },
        { role: 'system' as const, text: 'ok', origin: 'unknown' as const },
        { role: 'assistant' as const, text: 'ok', origin: 'unknown' as const },
        { role: 'tool' as const, text: 'ok', origin: 'unknown' as const },
      ]) {
        const refused = refusal(await scene.service.recordTurn({ ...started, messages: [message] }))
        assert.equal(refused.code, 'input.invalid')
      }
      assert.deepEqual(await originsIn(scene, started.session.conversationId), [])
    },
    'keeps what a session opens with as a message for each origin, in order': async (scene) => {
      const parts = { hookContext: 'Use pnpm here.', continuation: 'You continue this work.', prompt: 'Write the docs' }
      const { session } = await scene.session(undefined, undefined, parts)
      assert.deepEqual(await originsIn(scene, session.conversationId), [
        ['user', 'hook', 'Use pnpm here.'],
        ['user', 'batonpass', 'You continue this work.'],
        ['user', 'person', 'Write the docs'],
      ])
      const opening = await scene.store.messages.findOpening(session.id)
      assert.equal(opening?.text, 'Use pnpm here.\n\nYou continue this work.\n\nWrite the docs')
      assert.deepEqual(
        opening?.messages.map(({ sequenceNumber, turnId }) => [sequenceNumber, turnId]),
        [1, 2, 3].map((place) => [place, undefined]),
      )
      assert.equal(session.progress.nextSequence, 4)
      await assertIntact(scene, session.conversationId)
    },
    'keeps what a successor opens with as our own words': async (scene) => {
      const { handoff } = await scene.initiated({ document: 'Half of it is done.' })
      const { session } = unwrap(await scene.service.completeHandoff({ handoff }))
      const opening = await scene.store.messages.findOpening(session.id)
      assert.deepEqual(
        opening?.messages.map(({ origin }) => origin),
        ['batonpass'],
      )
      await assertIntact(scene, session.conversationId)
    },
    'gives a successor the words of the person, from one agent to the next and the next': async (scene) => {
      const conversation = await scene.conversation()
      const started = await scene.session(undefined, conversation)
      const messages = [
        { role: 'user' as const, text: conversation.originalTask },
        { role: 'assistant' as const, text: 'I used spaces' },
        { role: 'user' as const, text: 'No: tabs only!' },
        { role: 'user' as const, text: 'A reminder', origin: 'runtime' as const },
        { role: 'user' as const, text: 'Push to production', origin: 'unknown' as const },
      ]
      let worked = { ...started, ...unwrap(await scene.service.recordTurn({ ...started, messages: messages })) }
      for (const targetAgent of ['opus', 'haiku']) {
        const transfer = { ...worked, targetAgent: scene.name(targetAgent), document: 'Half of it is done.' }
        const { handoff } = unwrap(await scene.service.initiateHandoff(transfer))
        const accepted = unwrap(await scene.service.acceptHandoff({ handoff, claimant: 'worker' }))
        const next = unwrap(await scene.service.completeHandoff({ ...accepted, claimant: 'worker' }))
        const { text = '' } = (await scene.store.messages.findOpening(next.session.id)) ?? {}
        const places = [conversation.originalTask, 'No: tabs only!', 'Half of it is done.'].map((part) =>
          text.indexOf(part),
        )
        assert.ok(!places.includes(-1), text)
        assert.deepEqual(
          places,
          places.toSorted((a, b) => a - b),
        )
        assert.equal(text.split(conversation.originalTask).length, 2, 'the task stands once')
        assert.ok(!text.includes('A reminder'), text)
        assert.ok(!text.includes('Push to production'), text)
        worked = { ...next, ...(await scene.work(next, 'read_file')) }
      }
      await assertIntact(scene, conversation.id)
    },
    'finds the newest messages of people, and counts the others': async (scene) => {
      const started = await scene.session(undefined, undefined, { hookContext: 'Use pnpm here.', prompt: 'Word 0' })
      const messages = [1, 2, 3, 4].flatMap((number) => [
        { role: 'user' as const, text: `Word ${number}` },
        {
          role: 'user' as const,
          text: 'A reminder',
          origin: number % 2 === 0 ? ('runtime' as const) : ('unknown' as const),
        },
        { role: 'assistant' as const, text: 'Understood' },
      ])
      unwrap(await scene.service.recordTurn({ ...started, messages: messages }))
      await scene.work(await scene.session())
      const find = (most: number) =>
        scene.store.messages.findPersonMessages(started.session.conversationId, {
          most,
          characters: 1_000,
          olderCharacters: 100,
        })
      const at = scene.clock.now()
      assert.deepEqual(await find(2), {
        messages: ['Word 4', 'Word 3'].map((text, index) => ({
          text,
          sequenceNumber: advance(started.session.progress.nextSequence, 9 - 3 * index),
          at,
        })),
        more: 3,
      })
      assert.deepEqual(
        (await find(100)).messages.map(({ text }) => text),
        ['Word 4', 'Word 3', 'Word 2', 'Word 1', 'Word 0'],
      )
      assert.equal((await find(100)).more, 0)
      const none = await scene.session()
      const empty = { most: 5, characters: 10, olderCharacters: 10 }
      assert.deepEqual(await scene.store.messages.findPersonMessages(none.session.conversationId, empty), {
        messages: [],
        more: 0,
      })
    },
    'reads no more of what people said than is wanted, and says how long it was': async (scene) => {
      const started = await scene.session()
      const cut = { length: 5_000_000, sha256: 'ab'.repeat(32) }
      const messages = [
        { role: 'user' as const, text: '🎉'.repeat(40) },
        { role: 'user' as const, text: 'a'.repeat(50) },
        { role: 'user' as const, text: 'b'.repeat(1_000_000) },
        { role: 'user' as const, text: 'The beginning', cut },
        { role: 'user' as const, text: 'Short' },
      ]
      unwrap(await scene.service.recordTurn({ ...started, messages }))
      const wanted = { most: 10, characters: 100, olderCharacters: 21 }
      const found = await scene.store.messages.findPersonMessages(started.session.conversationId, wanted)
      assert.deepEqual(
        found.messages.map(({ text, cut }) => [text, cut]),
        [
          ['Short', undefined],
          ['The beginning', { length: 5_000_000 }],
          ['b'.repeat(100), { length: 1_000_000 }],
          ['a'.repeat(21), { length: 50 }],
          ['🎉'.repeat(10), { length: 40 }],
        ],
      )
    },
  },
}
