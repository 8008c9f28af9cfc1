import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PROBLEM_STATUSES } from '../../src/adapters/http/http-problem.ts'
import { ROUTES, type Route } from '../../src/adapters/http/routes.ts'
import { openPglite } from '../../src/entry/postgres.ts'
import { TERMINAL_HOOK_EVENTS } from '../../src/services/terminal/hook-event.ts'
import { ServiceStage } from './stage.ts'

/** A few in every build; FUZZ=5000 before a release, and FUZZ_STORE=pglite for a real database behind it. */
const RUNS = Number(process.env.FUZZ ?? 300)

const word = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom('fuzzed', '__proto__', 'constructor', '', '../x', 'a\u0000b', '\ud800', '9'.repeat(400)),
)
const json = fc.jsonValue({ maxDepth: 4 })
const window = fc.record(
  {
    context_window_size: fc.oneof(fc.double(), fc.integer(), json),
    used_percentage: fc.oneof(fc.double(), fc.constant(null), json),
    current_usage: fc.oneof(fc.constant(null), fc.dictionary(word, json), json),
  },
  { requiredKeys: [] },
)
const payload = fc.record(
  {
    session_id: fc.oneof(
      { weight: 4, arbitrary: fc.constant('fuzzed') },
      { weight: 1, arbitrary: fc.oneof(word, json) },
    ),
    source: fc.oneof(fc.constantFrom('startup', 'resume', 'clear', 'compact', 'fork'), json),
    transcript_path: fc.oneof(word, json),
    cwd: fc.oneof(word, json),
    model: fc.oneof(word, json),
    agent_id: fc.oneof(word, fc.constant(undefined)),
    prompt: word,
    trigger: word,
    reason: word,
    parent_session_id: fc.oneof(fc.uuid(), word),
    signals: fc.oneof(fc.array(fc.oneof(fc.uuid(), word)), json),
    context_window: window,
    cost: fc.oneof(json, fc.record({ total_cost_usd: fc.oneof(fc.double(), json) })),
  },
  { requiredKeys: ['session_id'] },
)
const event = fc.record({
  v: fc.constantFrom(1, 1, 1, 2),
  commandId: fc.oneof({ weight: 5, arbitrary: fc.uuid() }, { weight: 1, arbitrary: word }),
  at: fc.oneof(
    fc.constantFrom(undefined, '2026-11-17T10:00:00Z', '2000-01-01T00:00:00Z', '9999-12-31T23:59:59Z'),
    word,
  ),
  event: fc.oneof(fc.constantFrom(...TERMINAL_HOOK_EVENTS), word),
  runtime: fc.constantFrom('claude', 'claude', 'codex', 'other'),
  payload: fc.oneof({ weight: 9, arbitrary: payload }, { weight: 1, arbitrary: json }),
})
const anyBody = fc.oneof(
  event.map((body) => JSON.stringify(body)),
  json.map((body) => JSON.stringify(body)),
  word,
)
const routes = Object.values(ROUTES as Readonly<Record<string, Route>>).filter(({ path }) => path !== '/events')
const asked = fc.record({
  route: fc.constantFrom(...routes, ...routes.filter(({ path }) => path === '/hooks/events')),
  id: fc.oneof(fc.constant('fuzzed'), word, fc.uuid()),
  text: fc.oneof(
    { weight: 3, arbitrary: anyBody },
    { weight: 1, arbitrary: event.map((body) => JSON.stringify(body)) },
  ),
  token: fc.constantFrom('master', 'master', 'master', 'session', 'other', 'none'),
  type: fc.constantFrom('application/json', 'application/json', 'application/json; charset=utf-8', 'text/plain'),
})

describe('whatever is sent', () => {
  let stage: ServiceStage
  beforeAll(async () => {
    stage = await ServiceStage.open(process.env.FUZZ_STORE === 'pglite' ? { store: await openPglite() } : {})
    await stage.hook('fuzzed', 'session-start', { source: 'startup' })
  })
  afterAll(async () => stage[Symbol.asyncDispose]())

  const tokens: Readonly<Record<string, () => string | null>> = {
    master: () => stage.master,
    session: () => stage.tokenOf('fuzzed'),
    other: () => stage.tokenOf('other'),
    none: () => null,
  }

  it(`is answered or refused, and breaks nothing (${RUNS} requests)`, async () => {
    const known: readonly number[] = [200, 201, ...PROBLEM_STATUSES]
    const seen = new Map<number, number>()
    await fc.assert(
      fc.asyncProperty(asked, async ({ route, id, text, token, type }) => {
        const path = route.path.replace('{id}', encodeURIComponent(Buffer.from(id).toString()))
        const hasBody = route.body !== undefined
        const {
          status,
          json: answer,
          text: said,
        } = await stage.ask(route.method.toUpperCase(), path, {
          token: tokens[token]?.() ?? null,
          ...(hasBody && { text, headers: { 'content-type': type } }),
        })
        seen.set(status, (seen.get(status) ?? 0) + 1)
        expect(known).toContain(status)
        expect(status).not.toBe(500)
        if (status >= 400) expect(answer.error).toMatchObject({ code: expect.any(String), message: expect.any(String) })
        expect(said).not.toContain(stage.master)
      }),
      { numRuns: RUNS, endOnFailure: true },
    )
    console.log(`fuzzed: ${[...seen].map(([status, count]) => `${count} × ${status}`).join(', ')}`)
    const after = await stage.hook(`p-${randomUUID()}`, 'session-start', { source: 'startup' })
    expect(after.json.outcome).toBe('ok')
  })
})
