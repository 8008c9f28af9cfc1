import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { openPostgres } from '../../src/adapters/postgres/open/open-postgres.ts'
import type { AgentSession } from '../../src/domain/session/agent-session.ts'
import type { Store } from '../../src/ports/store/store.ts'
import { everyItem, ReadBack } from '../cases/read-back.ts'
import { type Child, startChild } from '../embedded/child-process.ts'
import { program } from '../support/bundle.ts'
import { cloneDatabase, withDatabase } from '../support/test-databases.ts'
import { RuntimeFolder } from './file-runtime.ts'
import type { Plan } from './kill-point.ts'
import type { Order } from './runner-process.ts'

const RUNNER = fileURLToPath(new URL('./runner-process.ts', import.meta.url))

/** Short, so that what was killed is soon known to be gone. */
const KILLED_LEASE_MS = 400
/** Long, so that a slow machine does not look like a killed one. */
export const LEASE_MS = 15_000
const LONGEST_WAIT_MS = 20_000
const AT_ONCE = 3

export const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Does something for each, a few at the same time. */
export const forEach = async <T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> => {
  const queue = items.values()
  const worker = async (): Promise<void> => {
    for (const item of queue) await work(item)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}

/** Tells a runner process what to do, and waits for what came of it. */
export const answer = async <T>(child: Child, order: Order): Promise<T> => {
  child.say(JSON.stringify(order))
  return heard(child)
}

/** What came of the last order. */
export const heard = async <T>(child: Child): Promise<T> => {
  const answered = JSON.parse(await child.hear()) as T & { readonly broke?: string; readonly stack?: string }
  if (answered.broke !== undefined) throw new Error(`${answered.broke}\n${answered.stack}`)
  return answered
}

/** One database and one folder of provider sessions, and the processes that work on both. */
export class KillGround implements AsyncDisposable {
  readonly store: Store
  readonly folder: RuntimeFolder
  readonly #path: string
  readonly #args: readonly string[]
  readonly #program: string

  private constructor(
    path: string,
    store: Store,
    { url, program }: { readonly url: string; readonly program: string },
  ) {
    this.store = store
    this.folder = new RuntimeFolder(path)
    this.#path = path
    this.#args = [url, path]
    this.#program = program
  }

  static async open(): Promise<KillGround> {
    const path = mkdtempSync(join(tmpdir(), 'batonpass-kill-'))
    const url = withDatabase(process.env.TEST_DATABASE_URL ?? '', await cloneDatabase())
    const store = await openPostgres({ connectionString: url })
    return new KillGround(path, store, { url, program: await program(RUNNER) })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.store[Symbol.asyncDispose]()
    rmSync(this.#path, { recursive: true, force: true, maxRetries: 10 })
  }

  startRunner(): Promise<Child> {
    return startChild(this.#program, this.#args)
  }

  /** Runs a plan in a process of its own, which dies where the plan says. */
  async killAt(plan: Plan): Promise<void> {
    this.folder.keepPlan(plan)
    const child = await this.startRunner()
    child.say(JSON.stringify({ do: 'run', key: plan.key, leaseMs: KILLED_LEASE_MS, signal: 'SIGKILL' } satisfies Order))
    expect(await child.ended, `${plan.key}: ${child.heard().join()}`).toBe('SIGKILL')
  }

  /** Runs a plan in a process of its own, which stops where the plan says, and can be woken. */
  async stopAt(plan: Plan): Promise<Child> {
    this.folder.keepPlan(plan)
    const child = await this.startRunner()
    child.say(JSON.stringify({ do: 'run', key: plan.key, leaseMs: KILLED_LEASE_MS, signal: 'SIGSTOP' } satisfies Order))
    await this.untilAbandoned([plan], (baton) => baton !== undefined)
    return child
  }

  /** Who has the baton of a plan's conversation. */
  async batonOf({ key }: Plan): Promise<AgentSession | undefined> {
    const conversation = await this.store.conversations.findByExternalKey(key)
    return conversation && (await this.store.sessions.findBaton(conversation.id))
  }

  /** Waits until whoever was killed is known to be gone, by the database's clock. */
  async untilAbandoned(
    plans: readonly Plan[],
    isReady: (baton: AgentSession | undefined) => boolean = () => true,
  ): Promise<void> {
    for (const deadline = Date.now() + LONGEST_WAIT_MS; ; await wait(50)) {
      const batons = await Promise.all(plans.map((plan) => this.batonOf(plan)))
      const expired = await everyItem((page) => this.store.leases.listExpired(page))
      const gone = new Set(expired.map(({ sessionId }) => sessionId))
      if (batons.every((baton) => isReady(baton) && (baton === undefined || gone.has(baton.id)))) return
      if (Date.now() > deadline) throw new Error('An orphaned session has no lease that expires')
    }
  }

  /** Waits until somebody has taken over all orphaned sessions. */
  async untilTakenOver(plans: readonly Plan[]): Promise<void> {
    for (const deadline = Date.now() + LONGEST_WAIT_MS; ; await wait(20)) {
      const expired = await everyItem((page) => this.store.leases.listExpired(page))
      const conversations = await Promise.all(plans.map(({ key }) => this.store.conversations.findByExternalKey(key)))
      const left = new Set(expired.map(({ conversationId }) => conversationId))
      if (conversations.every((conversation) => conversation !== undefined && !left.has(conversation.id))) return
      if (Date.now() > deadline) throw new Error('Nobody took over the orphaned sessions')
    }
  }

  /** Every row of some runs, to see whether anything has changed. */
  everythingOf(plans: readonly Plan[]): Promise<readonly unknown[]> {
    return Promise.all(
      plans.map(async ({ key }) => {
        const conversation = await this.store.conversations.findByExternalKey(key)
        return conversation && (await new ReadBack(this.store).everything(conversation.id))
      }),
    )
  }
}
