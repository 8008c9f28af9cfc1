import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ExaminedStore } from '../../src/adapters/postgres/health/examined-store.ts'
import { rowsAreFormed } from '../../src/adapters/postgres/health/schema-checks.ts'
import { openPostgres } from '../../src/adapters/postgres/open/open-postgres.ts'
import { CHECKPOINT_OUTCOMES } from '../../src/domain/checkpoint/checkpoint-facts.ts'
import { CHECKPOINT_SECTIONS } from '../../src/domain/checkpoint/checkpoint-section.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import { WINDOW_SOURCES } from '../../src/domain/window/context-pressure.ts'
import { READING_SEMANTICS } from '../../src/domain/window/usage-reading.ts'
import type { Store } from '../../src/ports/store/store.ts'
import { readWorkStatus } from '../../src/services/history/work-status.ts'
import { endOrphans } from '../../src/services/run/recover/launched-processes.ts'
import { Scene } from '../../src/testing/scene.ts'
import { cloneDatabase, onServer, withDatabase } from '../support/test-databases.ts'

let url: string
let store: Store
beforeAll(async () => {
  url = withDatabase(process.env.TEST_DATABASE_URL ?? '', await cloneDatabase())
  store = await openPostgres({ connectionString: url })
})
afterAll(() => store[Symbol.asyncDispose]())

const ILL_FORMED = [
  '{}',
  '{"maxRestarts": "3", "whenExhausted": "stop"}',
  '{"maxRestarts": 3, "whenExhausted": "never"}',
]
const PROCESS = '{"host": "h", "bootId": "b", "pidNamespace": "n", "userId": 0, "mark": "m"}'
const NO_PROCESS = [
  '"x"',
  '{}',
  PROCESS.replace('0', '-1'),
  PROCESS.replace('"m"', '""'),
  PROCESS.replace('}', ', "x": 1}'),
]

/** The broken rows that `baton doctor` names. */
const broken = async (): Promise<readonly string[]> => {
  await using examined = new ExaminedStore({ connectionString: url })
  examined.isOpen = true
  return (await rowsAreFormed(examined)).map(({ text }) => text)
}

const NO_USAGE = [
  '{"state": "gossip"}',
  '{"state": "unknown", "by": 1}',
  '{"state": "metered", "promptTokens": "1", "outputTokens": 0}',
  '{"state": "percentage", "usedPercent": 1, "provenance": {"runtime": "x", "source": "y", "semantics": "guess"}}',
]

describe('the database', () => {
  it('takes every word that the domain has', async () => {
    const sections = JSON.stringify(CHECKPOINT_SECTIONS)
    const asked = [
      ...CHECKPOINT_OUTCOMES.map((outcome) => `is_checkpoint('{"outcome": "${outcome}", "sections": ${sections}}')`),
      ...WINDOW_SOURCES.map((source) => `is_window('{"hardLimit": {"tokens": 1, "source": "${source}"}}')`),
      ...READING_SEMANTICS.map(
        (semantics) =>
          `is_usage('{"state": "percentage", "usedPercent": 1, "provenance": {"runtime": "r", "source": "s", "semantics": "${semantics}"}}')`,
      ),
    ]
    for (const question of asked) await onServer(url, `do $$ begin assert batonpass.${question}; end $$`)
  })

  it('refuses readings, sums and facts of a checkpoint that would stop a list', async () => {
    const scene = new Scene({ store, passTime: async () => {} })
    const { session } = (await scene.initiated()).source
    const changes = [
      ...NO_USAGE.flatMap((usage) => [
        `agent_sessions set window_usage = '${usage}' where id`,
        `context_monitors set reading = '${usage}' where session_id`,
      ]),
      ...['{}', '{"inputTokens": 1, "outputTokens": "1"}', '{"inputTokens": 1, "outputTokens": 1, "x": 1}'].map(
        (totals) => `agent_sessions set totals = '${totals}' where id`,
      ),
      ...[
        '{}',
        '{"outcome": "lost"}',
        '{"outcome": "kept", "sections": ["Gossip"]}',
        '{"outcome": "kept", "x": 1}',
        '{"outcome": "kept", "totals": {}}',
      ].map((facts) => `handoffs set checkpoint = '${facts}' where source_session_id`),
      ...['[]', '{"x": 1}', '{"configuredLimit": "1"}', '{"hardLimit": {"tokens": 1, "source": "gossip"}}'].map(
        (parts) => `context_monitors set window_parts = '${parts}' where session_id`,
      ),
    ]
    for (const change of changes)
      await expect(onServer(url, `update batonpass.${change} = '${session.id}'`), change).rejects.toMatchObject({
        code: '23514',
      })
  })

  it('refuses a budget and processes that no reader could read', async () => {
    const scene = new Scene({ store, passTime: async () => {} })
    const { session } = await scene.session(scene.name('one'), undefined, { leaseMs: 60_000 })
    for (const budget of ILL_FORMED)
      await expect(
        onServer(
          url,
          `update batonpass.conversations set restart_budget = '${budget}' where id = '${session.conversationId}'`,
        ),
        budget,
      ).rejects.toMatchObject({ code: '23514' })
    for (const process of NO_PROCESS) {
      const lease = `where session_id = '${session.id}'`
      for (const change of [`processes = '[${process}]'`, `runner = '${process}'`])
        await expect(
          onServer(url, `update batonpass.session_leases set ${change} ${lease}`),
          change,
        ).rejects.toMatchObject({
          code: '23514',
        })
    }
    await onServer(
      url,
      `update batonpass.session_leases set processes = '[${PROCESS}]' where session_id = '${session.id}'`,
    )
    expect((await store.leases.find(session.id))?.processes).toHaveLength(1)
  })

  it('shows a row of before as broken, and all others', async () => {
    const scene = new Scene({ store, passTime: async () => {} })
    const other = await scene.session(scene.name('other'), undefined, { leaseMs: 60_000 })
    const { session } = await scene.session(scene.name('one'), undefined, { leaseMs: 60_000 })
    const plant = [
      `alter table batonpass.conversations drop constraint conversations_budget_formed`,
      `alter table batonpass.session_leases drop constraint session_leases_processes_formed`,
      `update batonpass.conversations set restart_budget = '{"maxRestarts": "x"}' where id = '${session.conversationId}'`,
      `update batonpass.session_leases set processes = '[{"host": "x"}]' where session_id = '${session.id}'`,
      `alter table batonpass.conversations add constraint conversations_budget_formed
         check (batonpass.is_budget(restart_budget)) not valid`,
      `alter table batonpass.session_leases add constraint session_leases_processes_formed
         check (batonpass.are_processes(processes)) not valid`,
    ]
    expect(await broken()).toEqual(['no row is broken'])
    for (const statement of plant) await onServer(url, statement)
    expect(await broken()).toEqual([
      `conversations has rows that conversations_budget_formed refuses today: ${session.conversationId}`,
      `session_leases has rows that session_leases_processes_formed refuses today: ${session.id}`,
    ])
    const { items } = await store.conversations.list({}, { limit: 1_000 })
    const shown = items.find(({ id }) => id === session.conversationId)
    expect(shown).toMatchObject({ broken: ['restartBudget'], restartBudget: { maxRestarts: 0 } })
    expect(items.find(({ id }) => id === other.session.conversationId)).not.toHaveProperty('broken')
    const { sessions } = await readWorkStatus({ store })
    expect(sessions.find((one) => one.session.id === session.id)?.lease).toMatchObject({ broken: ['processes'] })
    expect(sessions.find((one) => one.session.id === other.session.id)?.lease).not.toHaveProperty('broken')
    const running = await store.leases.listRunning({ limit: 1_000 })
    expect(running.items.map(({ sessionId }) => sessionId)).toEqual(
      expect.arrayContaining([session.id, other.session.id]),
    )
    // Nobody begins while it is not known what is still at work there.
    await expect(endOrphans({ store }, session.id)).rejects.toThrow(/lease of session .* is broken/)
    expect(await endOrphans({ store }, other.session.id)).toEqual([])
    // It goes on: the budget is set anew, and the session is worked.
    unwrap(
      await scene.service.setBudget({
        conversation: session.conversationId,
        budget: { maxRestarts: 1, whenExhausted: 'stop' },
      }),
    )
    expect(await store.conversations.find(session.conversationId)).not.toHaveProperty('broken')
  })
})
