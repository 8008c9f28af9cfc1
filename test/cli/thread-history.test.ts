import { beforeAll, describe, expect, it } from 'vitest'
import { openPostgres } from '../../src/adapters/postgres/open/open-postgres.ts'
import { instant, unwrap } from '../../src/entry/index.ts'
import type { KeptSummary, SummaryFigures } from '../../src/entry/ports.ts'
import { Scene } from '../../src/testing/scene.ts'
import { cloneDatabase, withDatabase } from '../support/test-databases.ts'
import { batonOn, NASTY, type Said } from './terminal.ts'

let baton: (...args: readonly string[]) => Promise<Said>
let wide: typeof baton
let kept: readonly KeptSummary[]

beforeAll(async () => {
  const database = withDatabase(process.env.TEST_DATABASE_URL ?? '', await cloneDatabase())
  await using store = await openPostgres({ connectionString: database })
  const scene = new Scene({ store, passTime: async () => {} })
  const made: KeptSummary[] = []
  for (const [minute, agentName, plainText] of [
    [1, 'claude-code', 'Objective: Fix the clock'],
    [2, 'codex', NASTY],
  ] as const) {
    const { session, holder } = await scene.worked('search_code')
    const into = { targetAgent: 'opus', reason: 'A new thread' }
    const { handoff, conversation } = unwrap(await scene.service.openThread({ session, holder, ...into }))
    const summary = {
      ...{ handoffId: handoff.id, sourceThreadId: session.conversationId, targetThreadId: conversation.id },
      ...{ agentName, summary: `## ${plainText}`, plainText, tokens: 200 + minute, modelUsed: 'extractive' },
      ...{ refinements: minute, isEdited: minute === 2, timestamp: instant(`2026-11-17T10:0${minute}:00Z`) },
    }
    await store.threadSummaries.keep(summary)
    made.push(summary)
  }
  kept = made
  baton = batonOn(database)
  wide = batonOn(database, 100)
})

describe('baton thread history', () => {
  it('lists summaries newest first, and narrows them down', async () => {
    const { code, out } = await baton('thread', 'history')
    expect(code).toBe(0)
    const [head, newest, oldest] = out.split('\n')
    expect(head).toMatch(/^FROM +INTO +ACCEPTED +AGENT +BY +TOKENS +SUMMARY$/)
    expect(newest).toMatch(/2026-11-17 10:02 +codex +extractive, edited +202 +red \\u\{1b\}/)
    expect(oldest).toMatch(/2026-11-17 10:01 +claude-code +extractive +201 +Objective: Fix the clock$/)
    const one = await baton('thread', 'history', '--json', '--from', kept[0]?.sourceThreadId ?? '')
    expect(JSON.parse(one.out)).toEqual({ items: [kept[0]] })
    for (const flags of [
      ['--agent', 'claude-code'],
      ['--until', '2026-11-17T10:02Z'],
      ['--limit', '1', '--since', '2026-11-17T10:02Z'],
    ])
      expect((await baton('thread', 'history', ...flags)).out.split('\n').length).toBe(3)
    expect((await baton('thread', 'history', '--agent', 'nobody')).out).toBe('No summaries match.')
  })

  it('continues where a page ended, and keeps to the width of the terminal', async () => {
    const first = await wide('thread', 'history', '--limit', '1')
    const [, cursor = ''] = /--after (\S+)/.exec(first.out) ?? []
    const next = await wide('thread', 'history', '--after', cursor)
    expect(next.out).toContain('claude-code')
    expect(next.out).not.toContain('codex')
    expect(Math.max(...next.out.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(100)
  })

  it('counts by agent and model', async () => {
    const { out } = await baton('thread', 'history', '--figures')
    expect(out.split('\n')).toEqual([
      'AGENT        BY          SUMMARIES  EDITED  REFINED  TOKENS  LATEST',
      'claude-code  extractive  1          0       1        201     2026-11-17 10:01',
      'codex        extractive  1          1       2        202     2026-11-17 10:02',
      'Times are UTC.',
    ])
    const [figures] = JSON.parse(
      (await baton('thread', 'history', '--figures', '--json', '--agent', 'codex')).out,
    ) as SummaryFigures[]
    expect(figures).toMatchObject({ agentName: 'codex', summaries: 1, meanTokens: 202 })
    expect((await baton('thread', 'history', '--figures', '--agent', 'nobody')).out).toBe('No summaries match.')
  })

  it.each([
    ['a page of figures', ['--figures', '--limit', '3']],
    ['a time that is none', ['--since', 'yesterday']],
  ])('does not understand %s', async (_, flags) => {
    expect((await baton('thread', 'history', ...flags)).code).toBe(2)
  })
})
