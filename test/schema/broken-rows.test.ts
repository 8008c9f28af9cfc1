import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPostgres } from '../../src/adapters/postgres/open-postgres.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import type { Store } from '../../src/ports/store.ts'
import { endOrphans } from '../../src/services/runner/recover/agent-processes.ts'
import { readWorkStatus } from '../../src/services/work-status.ts'
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

describe('the database', () => {
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
    ]
    for (const statement of plant) await onServer(url, statement)
    const { items } = await store.conversations.list({}, { limit: 1_000 })
    const broken = items.find(({ id }) => id === session.conversationId)
    expect(broken).toMatchObject({ broken: ['restartBudget'], restartBudget: { maxRestarts: 0 } })
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
