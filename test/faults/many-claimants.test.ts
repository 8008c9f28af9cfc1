import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPostgres } from '../../src/adapters/postgres/open/open-postgres.ts'
import { claimOf, type HandoffMetadata, type HandoffStatus } from '../../src/domain/handoff/handoff.ts'
import type { AgentSession } from '../../src/domain/session/agent-session.ts'
import type { Store } from '../../src/ports/store/store.ts'
import { Scene } from '../../src/testing/scene.ts'
import { everyItem, ReadBack } from '../cases/read-back.ts'
import { cloneDatabase, withDatabase } from '../support/test-databases.ts'
import { startWorker, type WorkerProcess } from '../support/worker-process.ts'
import type { Settling } from '../support/worker-service.ts'

const PROCESSES = 4
const HANDOFFS = 200
/** `FAULT_ROUNDS=1000` for the whole proof; the suite takes a part of it. */
const ROUNDS = Number(process.env.FAULT_ROUNDS ?? 200)
const AT_ONCE = 5

let store: Store
let scene: Scene
let workers: readonly WorkerProcess[]

beforeAll(async () => {
  const connectionString = withDatabase(process.env.TEST_DATABASE_URL ?? '', await cloneDatabase())
  store = await openPostgres({ connectionString })
  scene = new Scene({ store, passTime: async () => {} })
  const options = { connectionString, maxConnections: AT_ONCE }
  workers = await Promise.all(Array.from({ length: PROCESSES }, () => startWorker(options)))
})
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker[Symbol.asyncDispose]()))
  await store[Symbol.asyncDispose]()
})

const times = <T>(count: number, make: (n: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, n) => make(n))

describe('twenty claimants in four processes', () => {
  it('claim two hundred handoffs, each once', async () => {
    const targetAgent = scene.name('opus')
    const pending = await Promise.all(times(HANDOFFS, async () => (await scene.initiated({ targetAgent })).handoff.id))
    const claims = (
      await Promise.all(
        workers.map((worker, n) => worker.carryOut('claimAll', { targetAgent, workers: 5, name: `process-${n}` })),
      )
    ).flat()
    expect(claims.map(({ handoff }) => handoff).toSorted()).toEqual(pending.toSorted())
    const kept = new ReadBack(store)
    const stored = await Promise.all(pending.map(async (id) => [id, claimOf(await kept.handoff(id))?.claimant]))
    expect(new Map(stored as [string, string][])).toEqual(
      new Map(claims.map(({ handoff, claimant }) => [handoff, claimant])),
    )
    expect(await everyItem((page) => store.handoffs.listPendingFor(targetAgent, page))).toEqual([])
    // A race that one process runs alone proves nothing.
    expect(new Set(claims.map(({ claimant }) => claimant)).size).toBeGreaterThan(PROCESSES)
  })
})

const SOURCE_AFTER: Readonly<Partial<Record<HandoffStatus, AgentSession['state']>>> = {
  accepted: 'paused',
  completed: 'handed_off',
  cancelled: 'active',
  failed: 'active',
}

const COMMANDS = ['accept', 'cancel', 'fail', 'complete'] as const

/** Four processes, each with another of the four commands, on the same handoffs at once. */
const race = async (handoffs: readonly HandoffMetadata[], by: (command: Settling['command']) => string | undefined) => {
  const asked = workers.map((_, worker) =>
    handoffs.map(({ id }, round): Settling => {
      const command = COMMANDS[(worker + round) % COMMANDS.length] ?? 'accept'
      const name = by(command)
      return { handoff: id, command, ...(name !== undefined && { by: name }) }
    }),
  )
  const answers = await Promise.all(workers.map((worker, n) => worker.carryOut('settle', asked[n] ?? [])))
  return handoffs.map((handoff, round) => ({
    handoff,
    won: answers.flatMap((answer, n) => (answer[round]?.ok ? [asked[n]?.[round]?.command ?? ''] : [])),
    codes: answers.flatMap((answer) => answer[round]?.code ?? []),
  }))
}

const END = { cancel: 'cancelled', fail: 'failed', complete: 'completed', accept: 'accepted' } as const

describe('accept ∥ cancel ∥ fail ∥ complete from four processes', () => {
  it.each([
    { who: 'one claimant', by: () => 'worker', rounds: Math.ceil(ROUNDS / 2) },
    {
      who: 'strangers to each other',
      by: (command: string) => ({ accept: 'worker-1', complete: 'worker-2' })[command],
      rounds: Math.floor(ROUNDS / 2),
    },
  ])('by $who: exactly one of them decides, $rounds times', { timeout: 300_000 }, async ({ who, by, rounds }) => {
    const kept = new ReadBack(store)
    const ends = new Map<string, number>()
    for (let round = 0; round < rounds; round += AT_ONCE) {
      const begun = await Promise.all(times(AT_ONCE, () => scene.initiated()))
      const outcomes = await race(
        begun.map(({ handoff }) => handoff),
        by,
      )
      for (const { handoff, won, codes } of outcomes) {
        const { status } = await kept.handoff(handoff.id)
        // For one and the same claimant accepting is a step on the way, for strangers it is the end of the race.
        const deciding = who === 'one claimant' ? won.filter((command) => command !== 'accept') : won
        expect(deciding).toHaveLength(1)
        expect(status).toBe(END[deciding[0] as keyof typeof END])
        for (const code of codes) {
          expect(code).toMatch(/^handoff\.(illegal_transition|already_claimed|not_claimant)$/)
        }
        expect((await kept.session(handoff.sourceSessionId)).state).toBe(SOURCE_AFTER[status])
        const sessions = await kept.sessions(handoff.conversationId)
        expect(sessions).toHaveLength(status === 'completed' ? 2 : 1)
        expect(sessions.filter(({ state }) => state === 'active')).toHaveLength(status === 'accepted' ? 0 : 1)
        ends.set(status, (ends.get(status) ?? 0) + 1)
      }
    }
    expect(ends.size, JSON.stringify([...ends])).toBeGreaterThan(1)
    console.log(`accept ∥ cancel ∥ fail ∥ complete by ${who}: ${JSON.stringify(Object.fromEntries(ends))}`)
  })
})
