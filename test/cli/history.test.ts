import { beforeAll, describe, expect, it } from 'vitest'
import type {
  AgentSession,
  Conversation,
  HandoffMetadata,
  Lineage,
  MessageInHistory,
  Turn,
} from '../../src/entry/index.ts'
import type { Paged, WindowAtTurn } from '../../src/entry/ports.ts'
import { batonOn, historyInDatabase, type Said } from './terminal.ts'

let there: Awaited<ReturnType<typeof historyInDatabase>>
let baton: (...args: readonly string[]) => Promise<Said>

beforeAll(async () => {
  there = await historyInDatabase()
  baton = batonOn(there.database)
})

const json = async <T>(...args: readonly string[]): Promise<T> => {
  const { code, out, err } = await baton(...args, '--json')
  expect({ code, err }).toEqual({ code: 0, err: '' })
  return JSON.parse(out) as T
}

const ABSENT = '0190a0a0-0000-7000-8000-000000000999'

describe('baton handoffs', () => {
  it('lists them in a table', async () => {
    const { code, out } = await baton('handoffs', 'list', '--kind', 'agent_transfer', '--status', 'completed')
    expect(code).toBe(0)
    expect(out.split('\n')).toEqual([
      expect.stringMatching(/^ID +TITLE +STATUS +AGE +FROM → TO +KIND +FOLDER$/),
      expect.stringMatching(
        new RegExp(`^${there.first.id}  Find out why .*  completed  \\d+d +claude-code → opus-agent  transfer$`),
      ),
    ])
  })

  it.each<readonly [string, readonly string[], (found: typeof there) => readonly string[]]>([
    ['no flag', [], ({ first, thread, waiting }) => [waiting.id, thread.handoff.id, first.id]],
    ['--oldest', ['--oldest'], ({ first, thread, waiting }) => [first.id, thread.handoff.id, waiting.id]],
    ['--newest', ['--newest'], ({ first, thread, waiting }) => [waiting.id, thread.handoff.id, first.id]],
    ['--agent', ['--agent', 'opus-agent'], ({ first, thread, waiting }) => [waiting.id, thread.handoff.id, first.id]],
    ['--source', ['--source', 'claude-code'], ({ first }) => [first.id]],
    ['--target', ['--target', 'helper'], ({ thread }) => [thread.handoff.id]],
    ['--kind', ['--kind', 'thread'], ({ thread }) => [thread.handoff.id]],
    ['a kind as tables show it', ['--kind', 'transfer'], ({ first, waiting }) => [waiting.id, first.id]],
    ['a kind as tables show it', ['--kind', 'restart'], () => []],
    ['--status', ['--status', 'initiated'], ({ waiting }) => [waiting.id]],
    ['--reason', ['--reason', 'FULL window'], ({ first }) => [first.id]],
    ['--since', ['--since', '2026-11-16T03:46Z'], ({ thread, waiting }) => [waiting.id, thread.handoff.id]],
    ['--until', ['--until', '2026-11-16T04:46+01:00'], ({ first }) => [first.id]],
    ['--open', ['--open'], ({ waiting }) => [waiting.id]],
    ['--overdue', ['--overdue'], () => []],
    ['several', ['--agent', 'opus-agent', '--kind', 'thread'], ({ thread }) => [thread.handoff.id]],
  ])('lists them by %s', async (_, flags, expected) => {
    const { items } = await json<Paged<HandoffMetadata>>('handoffs', 'list', ...flags)
    expect(items.map(({ id }) => id)).toEqual(expected(there))
  })

  it('continues where a page ended, or over all pages', async () => {
    const { out } = await baton('handoffs', 'list', '--oldest', '--limit', '2')
    const [, hint = '', cursor = ''] = /Continue with:\n {2}baton (.* --after (\S+))$/.exec(out) ?? []
    expect(out).toContain('There are more.')
    const rest = await json<Paged<HandoffMetadata>>(...hint.split(' '))
    expect(rest).toEqual(await json('handoffs', 'list', '--oldest', '--limit', '2', '--after', cursor))
    expect(rest).toEqual({ items: [there.waiting] })
    const all = await json<Paged<HandoffMetadata>>('handoffs', 'list', '--oldest', '--limit', '1', '--all')
    expect(all).toEqual({ items: [there.first, there.thread.handoff, there.waiting] })
    expect((await baton('handoffs', 'list', '--limit', '1', '--all')).out.split('\n')).toHaveLength(4)
    expect(await json('handoffs', 'list', '--target', 'nobody', '--all')).toEqual({ items: [] })
  })

  it('says so when there are none', async () => {
    expect(await baton('handoffs', 'list', '--agent', 'nobody')).toEqual({
      code: 0,
      out: 'No handoffs match.',
      err: '',
    })
    expect(await json('handoffs', 'list', '--agent', 'nobody')).toEqual({ items: [] })
  })

  it('shows one by its id, or the newest by the key of its conversation', async () => {
    const { out } = await baton('handoffs', 'show', there.first.id)
    expect(out).toMatch(/^kind {10}agent_transfer$/m)
    expect(out).toMatch(/^from {10}claude-code \(session /m)
    expect(out).toMatch(/^Why:\n {2}The window is nearly full$/m)
    expect(out).toMatch(/^Led to by:\n {2}run_tests \(message 2, call_1\)$/m)
    expect(out).toMatch(/^Document:\n {2}Goal: mend it\.$/m)
    expect(await json('handoffs', 'show', there.first.id.toUpperCase())).toEqual(there.first)
    expect(await json('handoffs', 'show', '--key', 'issue-7')).toEqual(there.waiting)
  })
})

describe('baton audit query', () => {
  it('says who, when and why', async () => {
    const { out } = await baton('audit', 'query', '--reason', 'nearly full')
    expect(out.split('\n')).toEqual([
      'WHEN              WHO                       STATUS     WHY',
      '2026-11-16 03:45  claude-code → opus-agent  completed  The window is nearly full',
      'Times are UTC.',
    ])
    const { items } = await json<Paged<HandoffMetadata>>('audit', 'query', '--reason', 'nearly full')
    expect(items).toEqual([there.first])
  })
})

describe('baton conversations', () => {
  it('lists them, and shows one', async () => {
    const { items } = await json<Paged<Conversation>>('conversations', 'list', '--subject', 'tenant-7', '--roots')
    expect(items).toEqual([there.conversation])
    const all = await json<Paged<Conversation>>('conversations', 'list', '--newest')
    expect(all.items.map(({ id }) => id)).toEqual([there.thread.conversation.id, there.conversation.id])
    expect((await baton('conversations', 'list')).out).toMatch(
      / {2}Find out why .* {2}paused|held .* {2}issue-7 {2}tenant-7$/m,
    )
    expect(await json('conversations', 'show', '--key', 'issue-7')).toEqual(there.conversation)
    const { out } = await baton('conversations', 'show', there.thread.conversation.id)
    expect(out).toMatch(new RegExp(`^thread of +${there.conversation.id}$`, 'm'))
  })
})

describe('baton sessions', () => {
  it('lists them, and shows one', async () => {
    const { items } = await json<Paged<AgentSession>>('sessions', 'list', '--agent', 'claude-code')
    expect(items.map(({ id, state }) => [id, state])).toEqual([[there.source.session.id, 'handed_off']])
    expect((await json<Paged<AgentSession>>('sessions', 'list', '--state', 'paused')).items).toHaveLength(1)
    const of = ['--conversation', there.conversation.id] as const
    expect((await json<Paged<AgentSession>>('sessions', 'list', ...of)).items).toHaveLength(2)
    expect((await baton('sessions', 'list')).out).toMatch(/^ID +TITLE +FOLDER +STATE +AGE +AGENT +EPOCH {2}TURNS$/m)
    const { out } = await baton('sessions', 'show', there.source.session.id)
    expect(out).toMatch(/^window +messages 1–2: 2 \(user 1, assistant 1, tool 0, system 0\)$/m)
    expect((await json<AgentSession>('sessions', 'show', '--key', 'issue-7')).id).toBe(there.target.session.id)
  })

  it('shows what the window held at a turn', async () => {
    const turn = there.source.turns[0]?.id ?? ''
    const window = await json<WindowAtTurn>('sessions', 'window', turn)
    expect(window).toMatchObject({ turnId: turn, range: { start: 1, end: 2 } })
    expect((await baton('sessions', 'window', turn)).out).toMatch(
      /^held +2 \(user 1, assistant 1, tool 0, system 0\)$/m,
    )
  })
})

describe('baton lineage', () => {
  it('takes the id of a conversation, a session or a handoff', async () => {
    const ids = [there.conversation.id, there.source.session.id, there.first.id]
    const trees = await Promise.all(ids.map(async (id) => (await baton('lineage', id)).out))
    expect(new Set(trees).size).toBe(1)
    expect(trees[0]).toMatch(/├─ session 1 {2}claude-code {2}handed_off {2}messages 1–2, 1 turn/)
    expect(trees[0]).toMatch(/└─ conversation \S{36} {2}"/)
    const below = await json<Lineage>('lineage', there.thread.session.id)
    expect(below.openedBy).toEqual(there.thread.handoff)
    expect((await baton('lineage', there.thread.session.id)).out).toMatch(/^from conversation \S{36} {2}"Find out/)
    expect((await baton('lineage', '--key', 'issue-7')).out).toBe(trees[0])
  })
})

describe('baton messages', () => {
  it('shows what was said in a conversation, by id or key', async () => {
    const { items } = await json<Paged<MessageInHistory>>('messages', '--key', 'issue-7')
    expect(items.map(({ text }) => text)).toEqual([
      'Go on',
      'It compares dates.',
      expect.any(String),
      'Go on',
      'Mended.',
    ])
    expect(await json('messages', there.conversation.id)).toEqual({ items })
    const { out } = await baton('messages', '--key', 'issue-7')
    expect(out).toMatch(
      /^1 {2}user \(person\) {2}2026-11-16 03:45 {2}led to handoff \S{36}\n {2}Go on\n\n2 {2}assistant/,
    )
    expect(out).toContain('\n  Mended.\n')
  })

  it('shows what was said in one session, page by page', async () => {
    const { id } = there.target.session
    const { items } = await json<Paged<MessageInHistory>>('messages', id)
    expect(items.map(({ sessionId }) => sessionId)).toEqual([id, id, id])
    const first = await json<Paged<MessageInHistory>>('messages', id, '--limit', '2')
    expect(first.items).toEqual(items.slice(0, 2))
    expect(await json('messages', id, '--after', first.next ?? '')).toEqual({ items: items.slice(2) })
    expect(await json('messages', id, '--all', '--limit', '1')).toEqual({ items })
  })
})

describe('baton turns', () => {
  it('lists those of a conversation, session after session, page by page', async () => {
    const both = [...there.source.turns, ...there.target.turns]
    expect(await json('turns', '--key', 'issue-7')).toEqual({ items: both })
    expect(await json('turns', there.target.session.id)).toEqual({ items: there.target.turns })
    const first = await json<Paged<Turn>>('turns', there.conversation.id, '--limit', '1')
    expect(first.items).toEqual(there.source.turns)
    expect(await json('turns', there.conversation.id, '--after', first.next ?? '')).toEqual({
      items: there.target.turns,
    })
    expect(await json('turns', there.conversation.id, '--all', '--limit', '1')).toEqual({ items: both })
    const { out } = await baton('turns', '--key', 'issue-7')
    expect(out).toMatch(/^TURN +RECORDED +NO {2}MESSAGES {2}USAGE +TOOLS\n/)
    expect(out).toMatch(/ 1–2 .*18200 tokens sent, 400 answered {2}run_tests$/m)
  })
})

describe('the command line', () => {
  it.each([
    ['a blank word', ['sessions', 'show', ''], 'Name it once'],
    ['two orders', ['sessions', 'list', '--newest', '--oldest'], 'exclude each other'],
    ['both an id and a key', ['handoffs', 'show', ABSENT, '--key', 'x'], 'Name it once'],
    ['two ids', ['lineage', ABSENT, ABSENT], 'is one word too many'],
    ['a word that does not belong', ['handoffs', 'list', 'all'], '"all" is one word too many'],
    [
      'an unknown kind',
      ['handoffs', 'list', '--kind', 'gift'],
      'transfer (agent_transfer), restart (context_restart), thread',
    ],
    ['an unknown status', ['audit', 'query', '--status', 'lost'], 'initiated, accepted'],
    ['an unknown state', ['sessions', 'list', '--state', 'tired'], 'active, paused'],
    ['a limit that is none', ['handoffs', 'list', '--limit', '0'], 'a number from 1 to 1000'],
    ['a limit that is none', ['handoffs', 'list', '--limit', '1e2'], 'a number from 1 to 1000'],
    ['a time that is none', ['handoffs', 'list', '--since', 'monday'], 'a date such as'],
    ['a time that is none', ['handoffs', 'list', '--since', '2026-13-45'], '--since cannot be "2026-13-45"'],
    ['a length that is none', ['handoffs', 'list', '--overdue', '--unclaimed-for', '10'], 'such as 90s'],
    ['a flag without its other', ['handoffs', 'list', '--unclaimed-for', '10m'], 'goes with --overdue'],
    ['flags that exclude each other', ['handoffs', 'list', '--agent', 'a', '--source', 'b'], 'exclude each other'],
    ['a blank value', ['handoffs', 'list', '--reason', ' '], '--reason needs a value'],
  ])('refuses %s', async (_, args, sentence) => {
    const { code, out, err } = await baton(...args)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain(sentence)
    expect(err).not.toMatch(/\n\s+at /)
  })

  it.each([
    ['conversations', 'show', ABSENT],
    ['sessions', 'show', ABSENT],
    ['sessions', 'window', ABSENT],
    ['handoffs', 'show', ABSENT],
    ['lineage', ABSENT],
    ['conversations', 'show', '--key', 'nothing'],
    ['sessions', 'show', '--key', 'nothing'],
    ['handoffs', 'show', '--key', 'nothing'],
    ['lineage', '--key', 'nothing'],
    ['messages', '--key', 'nothing'],
    ['messages', ABSENT],
    ['turns', ABSENT],
    ['handoffs', 'show', 'seven'],
    ['lineage', '../etc'],
    ['handoffs', 'show', 'abcd1234'],
    ['sessions', 'list', '--conversation', 'abcd1234'],
  ])('says what is not there: %s %s %s', async (...args) => {
    const { code, out, err } = await baton(...args)
    expect({ code, out }).toEqual({ code: 3, out: '' })
    expect(err).toMatch(/^baton: (There is no|The (key|id|name) cannot be used: (there is )?no)/)
  })

  it.each([
    ['conversations', 'list'],
    ['conversations', 'show'],
    ['sessions', 'list'],
    ['sessions', 'show'],
    ['sessions', 'window'],
    ['handoffs', 'list'],
    ['handoffs', 'show'],
    ['audit', 'query'],
    ['lineage'],
  ])('explains itself: %s %s', async (...words) => {
    const { code, out } = await baton(...words.filter((word) => word !== undefined), '--help')
    expect(code).toBe(0)
    expect(out).toMatch(new RegExp(`^Usage: baton ${words.join(' ')} \\[flags\\]`))
    expect(out).toContain('--json')
    expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100)
  })
})
