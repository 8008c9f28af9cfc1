import { beforeAll, describe, expect, it } from 'vitest'
import { type Conversation, createBatonpass, unwrap } from '../../src/entry/index.ts'
import { FixedClock } from '../../src/entry/testing.ts'
import { database as newDatabase } from './spawned.ts'
import { batonOn, type Said } from './terminal.ts'

/** Ids that end in what tells them apart, unless they are to end alike. */
class EndingIds {
  ending: string | undefined
  #count = 0

  next(): string {
    this.#count += 1
    const number = this.#count.toString(16).padStart(6, '0')
    return `0190a0a0-0000-7000-8000-${number}${this.ending ?? number}`
  }
}

let baton: (...args: readonly string[]) => Promise<Said>
let here: Conversation
let elsewhere: Conversation

beforeAll(async () => {
  const database = await newDatabase()
  const [clock, ids] = [new FixedClock('2026-11-16T03:45:00Z'), new EndingIds()]
  await using batonpass = await createBatonpass({ database, clock, ids })
  const { handoffs } = batonpass
  const work = async (originalTask: string, workingDirectory: string, externalKey?: string): Promise<Conversation> => {
    clock.advance(60_000)
    const key = externalKey === undefined ? {} : { externalKey }
    const opening = { originalTask, workspace: { workingDirectory }, ...key }
    const { conversation } = unwrap(await handoffs.openConversation(opening))
    const agent = { agentName: 'claude-code', backend: 'scripted' }
    const started = unwrap(await handoffs.startSession({ conversationId: conversation.id, ...agent }))
    const messages = [{ role: 'user' as const, text: `${originalTask}: the flaky word` }]
    const worked = unwrap(await handoffs.recordTurn({ ...started, messages }))
    unwrap(await handoffs.initiateHandoff({ ...worked, targetAgent: 'opus', reason: 'Full' }))
    return conversation
  }
  here = await work('Find out why the login test fails', process.cwd(), 'issue-7')
  ids.ending = 'abcdef'
  for (const number of ['one', 'two'])
    unwrap(await handoffs.openConversation({ originalTask: `Twin task ${number}`, externalKey: number }))
  ids.ending = undefined
  elsewhere = await work('Mend the till', '/nowhere/shop', 'till-1')
  baton = batonOn(database)
})

/** Every command that reads one thing. */
const READING: readonly (readonly string[])[] = [
  ['conversations', 'show'],
  ['sessions', 'show'],
  ['sessions', 'window'],
  ['handoffs', 'show'],
  ['messages'],
  ['turns'],
  ['lineage'],
  ['look-back', '--words=flaky'],
  ['audit', 'trail'],
  ['audit', 'verify'],
  ['sessions', 'list', '--conversation'],
  ['handoffs', 'list', '--conversation'],
  ['audit', 'query', '--conversation'],
]

/** Each way to name a conversation, and which one it is. */
const WAYS: readonly (readonly [string, () => readonly string[], () => Conversation])[] = [
  ['its key', () => ['issue-7'], () => here],
  ['its id', () => [here.id], () => here],
  ['its id in capitals', () => [here.id.toUpperCase()], () => here],
  ['its short id', () => [here.id.slice(-6)], () => here],
  ['more of its end', () => [here.id.slice(-20)], () => here],
  ['"last"', () => ['last'], () => elsewhere],
  ['the beginning of its title', () => ['find OUT why'], () => here],
  ['--key', () => ['--key', 'issue-7'], () => here],
  ['nothing, in its folder', () => [], () => here],
]

describe.each(READING.map((words) => [words.join(' '), words] as const))('baton %s', (_, words) => {
  const isFlag = words.at(-1)?.startsWith('--conversation') === true

  it.each(WAYS.filter(([way]) => !isFlag || !/^(--key|nothing)/.test(way)))('takes %s', async (_way, name, which) => {
    const whole = await baton(...words, which().id, '--json')
    expect({ code: whole.code, err: whole.err }).toEqual({ code: 0, err: '' })
    // An answer to a question names no conversation; what was said in it tells which one it is.
    expect(whole.out).toContain(words[0] === 'look-back' ? which().originalTask : which().id)
    expect(await baton(...words, ...name(), '--json')).toMatchObject({ code: 0, out: whole.out })
  })

  it.each([
    ['a short id', 'abcdef', /"abcdef" means several things/],
    ['a title', 'twin', /"twin" means several things/],
  ])('refuses %s that means two things, and lists them', async (_way, word, sentence) => {
    const { code, out, err } = await baton(...words, word)
    expect({ code, out }).toEqual({ code: 3, out: '' })
    expect(err).toMatch(sentence)
    const listed = /^ {2}(\S+) {2}Twin task two {2}\d+[smhd]$/m.exec(err)?.[1] ?? ''
    expect(err).toMatch(/^ {2}\S+ {2}Twin task one {2}\d+[smhd]$/m)
    const chosen = await baton('conversations', 'show', listed, '--json')
    expect(JSON.parse(chosen.out)).toMatchObject({ externalKey: 'two' })
  })

  it.each(['nobody', '00000', '0190a0a0-0000-7000-8000-fffffffffff0', 'till'])(
    'refuses "%s", which nothing is called',
    async (word) => {
      const { code, out, err } = await baton(...words, word)
      expect({ code, out }).toEqual({ code: 3, out: '' })
      expect(err).toMatch(/nothing is called|there is no /)
    },
  )
})

describe('a command that changes something', () => {
  const opening = ['thread', 'handoff', '--without', '--task=Another thing', '--json'] as const

  it.each([
    ['its key', () => 'issue-7'],
    ['its id', () => here.id],
    ['its short id', () => here.id.slice(-6)],
  ])('takes %s, as a word and with --from', async (_way, name) => {
    for (const words of [[name()], ['--from', name()]]) {
      const { code, out } = await baton(...opening, ...words)
      expect(code).toBe(0)
      expect(JSON.parse(out)).toMatchObject({ conversation: { parentId: here.id } })
    }
  })

  it.each(['last', 'Find out', 'abcdef', 'nobody'])('takes no guess: %s', async (word) => {
    const count = async () => (await baton('conversations', 'list', '--json', '--all')).out
    const before = await count()
    expect(await baton(...opening, word)).toMatchObject({ code: 3, out: '' })
    expect(await count()).toBe(before)
  })
})

describe('what was not named exactly', () => {
  it('is said on the side', async () => {
    const line = `Conversation: ${here.id.slice(-6)}  Find out why the login test fails`
    expect((await baton('messages')).err).toBe(`${line} (the latest of this folder)`)
    expect((await baton('messages', 'Find')).err).toBe(`${line} (by its title)`)
    expect((await baton('messages', 'issue-7')).err).toBe('')
  })

  it('is named once', async () => {
    expect(await baton('messages', 'issue-7', '--key', 'issue-7')).toMatchObject({ code: 2, out: '' })
    expect(await baton('messages', ' ')).toMatchObject({ code: 2, out: '' })
  })
})
