import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCli } from '../../src/adapters/cli/tree/run-command.ts'
import { type AuditEntry, type ConversationId, unwrap } from '../../src/entry/index.ts'
import { withoutStore } from '../cli/terminal.ts'
import { ownDatabase, ownStage, type Stage } from './stage.ts'

let url: string
let stage: Stage
let id: ConversationId

beforeAll(async () => {
  url = await ownDatabase()
  stage = await ownStage(url)
  id = await stage.conversation()
})
afterAll(() => stage.store[Symbol.asyncDispose]())

const baton = async (...argv: readonly string[]) => {
  const [out, err]: [string[], string[]] = [[], []]
  const terminal = { out: { line: (text: string) => out.push(text) }, err: { line: (text: string) => err.push(text) } }
  const status = await runCli(argv, { ...terminal, version: '0', environment: { BATONPASS_DATABASE_URL: url } })
  return { status, out: out.join('\n'), err: withoutStore(err.join('\n')) }
}

const NOBODY = '0190a0a0-0000-7000-8000-00000000dead'

describe('baton audit verify', () => {
  it('says that a conversation is intact', async () => {
    const [verdict, notCovered] = (await baton('audit', 'verify', id)).out.split('\n')
    expect(verdict).toBe(`${id}  intact, 12 entries`)
    expect(notCovered).toMatch(/^Not covered: monitors .*; leases .*; signals .*\.$/)
    const { out, status, err } = await baton('audit', 'verify', id, '--json')
    expect([status, err]).toEqual([0, ''])
    expect(JSON.parse(out)).toEqual({
      conversationId: id,
      entries: 12,
      intact: true,
      texts: { compared: 6, erased: 0, unchecked: 0, firstUnchecked: [] },
      notCovered: [
        expect.stringMatching(/^monitors/),
        expect.stringMatching(/^leases/),
        expect.stringMatching(/^signals/),
        ...Array.from({ length: 4 }, () => expect.any(String)),
      ],
    })
  })

  it('names the first bad entry and fails, for one and for all', async () => {
    expect(await baton('audit', 'verify', '--all')).toMatchObject({
      status: 0,
      out: expect.stringMatching(/all intact$/m),
    })
    const bad = await stage.conversation()
    await stage.tamper(['delete from batonpass.audit_entries where conversation_id = $1 and position = 4', bad])
    const one = await baton('audit', 'verify', bad)
    expect(one.status).toBe(1)
    expect(one.out.split('\n')[0]).toBe(`${bad}  missing at entry 4: Entry 4 is missing; the next one there is says 5.`)
    expect(one.err).toContain('is not what was written')
    const all = await baton('audit', 'verify', '--all', '--json')
    expect(all.status).toBe(1)
    expect(JSON.parse(all.out)).toMatchObject({
      broken: [{ conversationId: bad, problem: { class: 'missing', position: 4 } }],
    })
  })

  it('shows progress apart from the result', async () => {
    for (let opened = 0; opened < 100; opened += 1) await stage.scene.conversation()
    const { err } = await baton('audit', 'verify', '--all', '--json')
    expect(err).toMatch(/^100 conversations, \d+ entries verified$/m)
  })
})

describe('baton audit trail', () => {
  it('tells what happened, in order, with reasons', async () => {
    const { status, out } = await baton('audit', 'trail', id)
    const lines = out.split('\n')
    expect(status).toBe(0)
    expect(lines).toHaveLength(12)
    const ids = /\b[0-9a-f]{6}\b/g
    const told = lines.map((line) => line.slice('    1  2026-01-01T00:00:00.000Z  '.length).replaceAll(ids, '…'))
    const [claude, opus] = [stage.scene.name('claude-code'), stage.scene.name('opus')]
    expect(told.map((line) => line.replace(/until .*/, 'until then'))).toEqual([
      'conversation … opened',
      `session 1 (…) of ${claude} started`,
      'snapshot session_start of session …: 0 messages',
      `turn 1 of ${claude}: messages 1–2  read_file, run_tests`,
      `handoff … (agent_transfer) from ${claude} to ${opus} initiated  "The window is nearly full"  after read_file, run_tests`,
      `session … of ${claude} held by handoff …`,
      'snapshot handoff_initiated of session …: 2 messages',
      `handoff … accepted by ${opus}, until then`,
      `session … of ${claude} handed off by handoff …`,
      `session 2 (…) of ${opus} started, continuing handoff …`,
      'snapshot session_start of session …: 1 message',
      `handoff … completed by session … of ${opus}`,
    ])
  })

  it('gives the entries to machines, and pages through all of them', async () => {
    let working = await stage.scene.session()
    for (let turns = 0; turns < 12; turns += 1) {
      const turnsOf = Array.from({ length: 50 }, () => stage.scene.turn())
      working = { ...working, ...unwrap(await stage.scene.service.recordTurns({ ...working, turns: turnsOf })) }
    }
    const { out } = await baton('audit', 'trail', working.session.conversationId, '--json')
    const entries = JSON.parse(out) as AuditEntry[]
    expect(entries.map(({ position }) => position)).toEqual(Array.from({ length: 603 }, (_, index) => index + 1))
  })

  it('finds a conversation by its key, and lets no text steer the terminal', async () => {
    const key = stage.scene.name('issue')
    const request = { originalTask: 'Fix it', externalKey: key }
    const { conversation } = unwrap(await stage.scene.service.openConversation(request))
    const agentName = 'evil\u001b[2Jagent'
    unwrap(await stage.scene.service.startSession({ conversationId: conversation.id, agentName, backend: 'scripted' }))
    const { out, status } = await baton('audit', 'trail', '--key', key)
    expect(status).toBe(0)
    expect(out).toContain(`key "${key}"`)
    expect(out).toContain('evil\\u{1b}[2Jagent')
    expect(out).not.toContain('\u001b')
  })
})

describe('what is asked wrongly', () => {
  it.each([
    [['audit', 'trail'], 3, 'none has worked in this folder'],
    [['audit', 'trail', 'nonsense'], 3, 'nothing is called "nonsense"'],
    [['audit', 'trail', NOBODY, 'more'], 2, 'one word too many'],
    [['audit', 'trail', NOBODY, '--key', 'x'], 2, 'Name it once'],
    [['audit', 'trail', NOBODY], 3, `there is no conversation with the id ${NOBODY}`],
    [['audit', 'trail', '--key', 'nobody'], 3, 'no conversation has the key "nobody"'],
    [['audit', 'verify'], 3, 'none has worked in this folder'],
    [['audit', 'verify', NOBODY, '--all'], 2, '--all verifies every conversation'],
    [['audit', 'verify', 'nonsense'], 3, 'nothing is called "nonsense"'],
    [['audit', 'verify', NOBODY], 3, `there is no conversation with the id ${NOBODY}`],
  ])('%s ends with %d and a sentence', async (argv, status, sentence) => {
    const { err, ...rest } = await baton(...argv)
    expect(rest.status).toBe(status)
    expect(err).toContain(sentence)
    expect(err).not.toMatch(/\n\s+at /)
  })
})
