import type { AuditEvent } from '../../src/domain/audit-event.ts'
import { isOpen } from '../../src/domain/handoff/handoff.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import { createBatonpass } from '../../src/main/batonpass.ts'
import type { Store } from '../../src/ports/store/store.ts'
import type { WorkRequest } from '../../src/services/run/worker/worker.ts'
import { ScriptedRuntime } from '../../src/testing/scripted-runtime.ts'
import { lostProcess } from '../../test/support/lost-process.ts'
import { need } from './hands.ts'
import type { Stage } from './stage.ts'

/** How long a worker that is to be lost may be silent. On a server this time really passes. */
const LEASE_MS = 150
const LONGER_MS = 250
const A_MOMENT_MS = 20
const POLL = { least: 2, most: 20 }
const READS = 'My window is 10 % full.'

/** What a worker is told beside its agents. */
type Told = Pick<WorkRequest, 'maxClaims' | 'signal'> & { readonly leaseMs?: number }

/** A job that an agent hands to one that runs elsewhere, and the workers that take such jobs up. */
export class Fleet {
  readonly #stage: Stage
  readonly #jobs: string[] = []
  readonly #passesOn = new Map<string, { readonly to: string; readonly document: string }>()
  /** Where the sessions of an agent are whose worker is to be lost: its next worker finds them there. */
  readonly #left = new Map<string, ScriptedRuntime>()
  #workers = 0

  constructor(stage: Stage) {
    this.#stage = stage
  }

  /** The jobs, in the order they were handed over. */
  get jobs(): readonly string[] {
    return this.#jobs
  }

  /** An agent works on a job in a run of its own, and hands it to one who takes no part in that run. */
  async hand(agent: string, job: string, to: string, document: string): Promise<void> {
    const handsOver = { to: this.#stage.named(to), document }
    const turn = { text: READS, promptTokens: 100, tools: ['plan'], handsOver }
    const agents = {
      [this.#stage.named(agent)]: new ScriptedRuntime({ windows: [{ turns: [turn] }], backend: 'plans' }),
    }
    const batonpass = await createBatonpass({ store: this.#stage.scene.store })
    const [key, start] = [this.#stage.named(job), this.#stage.named(agent)]
    await batonpass.run({ agents, start, prompt: `Fix ${job}`, conversation: key }).finish()
    const { id } = need(await this.#stage.history.conversationByKey(key), 'a conversation')
    this.#stage.hands.enter(key, id)
    // Its run has let the session go by then.
    await this.#stage.scene.passTime(A_MOMENT_MS)
    this.#jobs.push(job)
  }

  async handMany(agent: string, count: number, to: string): Promise<void> {
    for (let number = 1; number <= count; number += 1) await this.hand(agent, `${to}-job-${number}`, to, 'Planned.')
  }

  /** What an agent does with everything it takes up. */
  passesOn(agent: string, to: string, document: string): void {
    this.#passesOn.set(agent, { to: this.#stage.named(to), document })
  }

  /** So many workers, each for its own agents, until nothing waits for any of them. */
  async workOff(workers: readonly (readonly string[])[], told: Told = {}): Promise<void> {
    const stop = new AbortController()
    const { store } = this.#stage.scene
    const working = workers.map((agents) => this.#work(agents, store, { ...told, signal: stop.signal }))
    const names = new Set(workers.flat().map((agent) => this.#stage.named(agent)))
    while (!(await this.#isDone(names))) {
      await new Promise((resolve) => setTimeout(resolve, 5))
      await this.#stage.scene.passTime(1)
    }
    stop.abort()
    await Promise.all(working)
  }

  /** A worker that is told to stop when its agent has answered for the first time. */
  async drain(agent: string): Promise<void> {
    const stop = new AbortController()
    await this.#work([agent], this.#stage.scene.store, { signal: stop.signal }, () => stop.abort())
  }

  /** A worker that is lost after something of its own is on record. */
  async lose(agent: string, last: AuditEvent['type']): Promise<void> {
    const isLast = ({ events }: { readonly events: readonly AuditEvent[] }): boolean =>
      events.some(({ type }) => type === last)
    const { store, lost } = lostProcess(this.#stage.scene.store, isLast)
    // Before it has answered there is no session to find.
    if (last === 'turn.recorded') this.#left.set(agent, this.#runtimeOf(agent, 'worker-0'))
    void this.#work([agent], store, { leaseMs: LEASE_MS }).catch(() => undefined)
    await lost
    await this.#stage.scene.passTime(LONGER_MS)
  }

  /** Workers that claim a job and are not heard of again. */
  async claimAndLose(job: string, count: number): Promise<void> {
    const { service, scene } = this.#stage
    const handoff = need(await this.#handoffOf(job), 'a handoff').id
    for (let lost = 1; lost <= count; lost += 1) {
      unwrap(await service.acceptHandoff({ handoff, claimant: `lost-${lost}`, claimMs: A_MOMENT_MS }))
      await scene.passTime(2 * A_MOMENT_MS)
    }
  }

  async #work(agents: readonly string[], store: Store, told: Told, onStep?: () => void): Promise<void> {
    this.#workers += 1
    const worker = `worker-${this.#workers}`
    const { leaseMs = 60_000, ...rest } = told
    const batonpass = await createBatonpass({ store })
    const cast = agents.map((agent) => [
      this.#stage.named(agent),
      this.#left.get(agent) ?? this.#runtimeOf(agent, worker, onStep),
    ])
    await batonpass.work({ agents: Object.fromEntries(cast), pollMs: POLL, run: { leaseMs }, ...rest })
  }

  /** Time passes with each answer, so that it is known who came first; the backend says whose worker it was. */
  #runtimeOf(agent: string, worker: string, onStep?: () => void): ScriptedRuntime {
    const handsOver = this.#passesOn.get(agent)
    const turn = { text: READS, promptTokens: 100, tools: ['edit_file'], ...(handsOver && { handsOver }) }
    const step = async (): Promise<void> => {
      await this.#stage.scene.passTime(1)
      onStep?.()
    }
    return new ScriptedRuntime({ windows: [{ turns: [turn] }], backend: `${agent} at ${worker}`, onStep: step })
  }

  async #isDone(agents: ReadonlySet<string>): Promise<boolean> {
    for (const job of this.#jobs) {
      const { id } = need(await this.#stage.history.conversationByKey(this.#stage.named(job)), 'a conversation')
      const handoffs = (await this.#stage.history.handoffs(id)).items
      const sessions = (await this.#stage.history.sessions(id)).items
      const isWorked = sessions.some(({ agentName, state }) => agents.has(agentName) && state === 'active')
      const isWaiting = handoffs.some((handoff) => isOpen(handoff) && agents.has(handoff.targetAgent))
      if (isWorked || isWaiting) return false
    }
    return true
  }

  async #handoffOf(job: string) {
    const { id } = need(await this.#stage.history.conversationByKey(this.#stage.named(job)), 'a conversation')
    return (await this.#stage.history.handoffs(id)).items.at(-1)
  }
}
