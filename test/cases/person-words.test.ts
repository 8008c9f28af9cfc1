import { describe, expect, it } from 'vitest'
import { createBatonpass, type RunRequest, unwrap } from '../../src/entry/index.ts'
import type { ScriptedRuntime, ScriptedTurn } from '../../src/entry/testing.ts'
import { ENDS, FILLS, play as playWith, recorded, script, TASK, turn } from '../runner/played.ts'
import { openStore, RULE_STORES } from '../support/stores.ts'

let keys = 0

const stage = async (kind: (typeof RULE_STORES)[number]) => {
  const { store } = await openStore(kind)
  const batonpass = await createBatonpass({ store })
  keys += 1
  const key = `words-${process.pid}-${keys}`
  const play = (runtime: ScriptedRuntime, more: Partial<RunRequest> = {}) =>
    playWith(batonpass, runtime, { conversation: key, ...more })
  /** A program vouches for what its person said to the agent before. */
  const say = async (...texts: readonly string[]): Promise<void> => {
    const { handoffs } = batonpass
    const { conversation } = unwrap(await handoffs.openConversation({ originalTask: TASK, externalKey: key }))
    const agent = { conversationId: conversation.id, agentName: 'claude', backend: 'mine' }
    const started = unwrap(await handoffs.startSession(agent))
    const said = texts.map((text) => ({ role: 'user' as const, text }))
    const messages = [...said, { role: 'assistant' as const, text: 'Understood.' }]
    const worked = { ...started, ...unwrap(await handoffs.recordTurn({ ...started, messages })) }
    unwrap(await handoffs.completeSession({ session: worked.session, holder: worked.holder }))
  }
  return { batonpass, store, play, say }
}

const CORRECTION = 'No: in British English, and never touch `legacy/`.\n  Tabs, not spaces.'
const hearing = (...said: NonNullable<ScriptedTurn['heard']>): readonly ScriptedTurn[] => [
  { ...turn(100, 'read'), heard: said },
  turn(900, 'edit'),
]
const wordsIn = (prompt = ''): string => /<(words-[0-9a-f-]+)>\n([\s\S]*)\n<\/\1>/.exec(prompt)?.[2] ?? ''

describe.each(RULE_STORES)('a person’s own words on %s', (kind) => {
  it('a correction in window 1 stands word for word in the first request of window 4', async () => {
    const { batonpass, store, play, say } = await stage(kind)
    await say(CORRECTION)
    const others = [
      { text: 'Use pnpm here.', origin: 'hook' as const },
      { text: 'The session so far: all is well.', origin: 'runtime' as const },
      { text: 'Change of plan: push to production.', origin: 'person' as const },
    ]
    const runtime = script([
      { turns: hearing(...others), checkpoint: 'Half is done.' },
      { turns: FILLS, checkpoint: 'More is done.' },
      { turns: ENDS },
    ])
    const { summary } = await play(runtime)
    expect(summary).toMatchObject({ outcome: 'completed', sessions: 3 })
    const { sessions } = await recorded(batonpass, summary)
    for (const launch of [1, 2]) {
      const prompt = runtime.launches[launch]?.prompt ?? ''
      expect(prompt.startsWith(`${TASK}\n\nThe person you work for also said`)).toBe(true)
      expect(wordsIn(prompt)).toMatch(/^\[\d{4}-\d\d-\d\dT[\d:.]+Z\]\n/)
      expect(wordsIn(prompt).split('\n').slice(1).join('\n')).toBe(CORRECTION)
      expect(prompt.indexOf(CORRECTION)).toBeLessThan(prompt.indexOf('<checkpoint-'))
      expect(prompt).not.toContain('Change of plan')
    }
    const { items } = await store.messages.listMessages(summary.conversationId, { limit: 100 })
    const users = items.filter(({ role }) => role === 'user').map(({ origin, text }) => [origin, text])
    expect(users[0]).toEqual(['person', CORRECTION])
    expect(users.map(([origin]) => origin).slice(1)).toEqual([
      ...['batonpass', 'person', 'hook', 'runtime', 'unknown', 'batonpass', 'batonpass'],
    ])
    expect((await store.messages.findOpening(sessions[3]?.id as never))?.text).toBe(runtime.launches[2]?.prompt)
    expect(await batonpass.audit.verify(summary.conversationId)).toMatchObject({ value: { intact: true } })
  })

  it('stand in a continuation without a checkpoint too', async () => {
    const { play, say } = await stage(kind)
    await say(CORRECTION)
    const runtime = script([{ turns: FILLS, checkpoint: new Error('It is gone') }, { turns: ENDS }])
    await play(runtime)
    expect(wordsIn(runtime.launches[1]?.prompt)).toContain(`]\n${CORRECTION}`)
    expect(runtime.launches[1]?.prompt).toContain('left no checkpoint')
  })

  it('of 300 messages are all mentioned or counted, in order, and the newest is whole', async () => {
    const { play, say } = await stage(kind)
    const texts = Array.from({ length: 300 }, (_, index) => `Word ${index}: ${'x'.repeat(200)}`)
    await say(...texts)
    const runtime = script([{ turns: FILLS, checkpoint: 'Half.' }, { turns: ENDS }])
    await play(runtime, { personWordsTokens: 4_000 })
    const words = wordsIn(runtime.launches[1]?.prompt)
    const shown = [...words.matchAll(/^\[\S+\](?: \((.*)\))?(?:\nWord (\d+):)?/gm)]
    const left = Number(/^\((\d+) earlier messages are not shown\.\)/.exec(words)?.[1] ?? 0)
    expect(shown.length + left).toBe(300)
    expect(left).toBeGreaterThan(0)
    const numbers = shown.flatMap(([, , number]) => (number === undefined ? [] : [Number(number)]))
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
    expect(words.endsWith(`]\n${texts.at(-1)}`)).toBe(true)
    // What was set is used: a tenth of this window is far less.
    expect(words.length).toBeGreaterThan(12_000)
    expect(words.length).toBeLessThanOrEqual(16_000)
  })

  it('of 600 short messages are all there, where the budget has room for them', async () => {
    const { play, say } = await stage(kind)
    const texts = Array.from({ length: 600 }, (_, index) => `Word ${index}`)
    await say(...texts)
    const runtime = script([{ turns: FILLS, checkpoint: 'Half.' }, { turns: ENDS }])
    await play(runtime, { personWordsTokens: 20_000 })
    const words = wordsIn(runtime.launches[1]?.prompt)
    expect([...words.matchAll(/^Word \d+$/gm)].map(([word]) => word)).toEqual(texts)
    expect(words).not.toContain('not shown')
  })

  it('that are the words of the task are left out once, where the task was asked', async () => {
    const { play } = await stage(kind)
    const rests = { ...turn(100, 'read'), rests: true }
    const turns = [rests, rests, rests, turn(200, 'read'), turn(900, 'edit')]
    const runtime = script([{ turns, checkpoint: 'Half.' }, { turns: FILLS, checkpoint: 'More.' }, { turns: ENDS }])
    for (const prompt of ['Write it', 'go on', 'no, use tabs', 'go on']) await play(runtime, { prompt })
    const said = (launch: number): readonly string[] =>
      wordsIn(runtime.launches.at(launch)?.prompt)
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('['))
    expect(said(-1)).toEqual(['Write it', 'go on', 'no, use tabs'])
    expect(said(-2)).toEqual(said(-1))
  })

  it('of 1 MB are shortened, and their length is said; what is beside them stays whole', async () => {
    const { play, say } = await stage(kind)
    await say('Before it', 'y'.repeat(1_048_576), 'After it')
    const runtime = script([{ turns: FILLS, checkpoint: 'Half.' }, { turns: ENDS }])
    await play(runtime, { personWordsTokens: 20_000 })
    const words = wordsIn(runtime.launches[1]?.prompt)
    expect(words).toMatch(
      /\]\nBefore it\n\n\[\S+\] \(only the beginning: it has 1048576 characters\)\ny+\n\n\[\S+\]\nAfter it$/,
    )
    expect(words.length).toBeLessThanOrEqual(80_000)
  })

  it('of the library are what recordTurn is told of a user, unless it says otherwise', async () => {
    const { batonpass, store } = await stage(kind)
    const { conversation } = unwrap(await batonpass.handoffs.openConversation({ originalTask: TASK }))
    const agent = { conversationId: conversation.id, agentName: 'claude-code', backend: 'mine' }
    const started = unwrap(await batonpass.handoffs.startSession({ ...agent, prompt: TASK, hookContext: 'Use pnpm.' }))
    const messages = [
      { role: 'user' as const, text: CORRECTION },
      { role: 'user' as const, text: 'A reminder', origin: 'runtime' as const },
      { role: 'assistant' as const, text: 'Understood.' },
    ]
    unwrap(await batonpass.handoffs.recordTurn({ ...started, messages }))
    const wanted = { most: 10, characters: 1_000, olderCharacters: 100 }
    const found = await store.messages.findPersonMessages(conversation.id, wanted)
    expect(found.messages.map(({ text }) => text)).toEqual([CORRECTION, TASK])
  })
})
