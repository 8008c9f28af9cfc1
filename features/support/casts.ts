import type { AuditEvent } from '../../src/domain/audit-event.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import { createBatonpass } from '../../src/main/batonpass.ts'
import type { ThreadAsked } from '../../src/ports/agent/agent-runtime.ts'
import type { Store } from '../../src/ports/store/store.ts'
import type { CastRunRequest } from '../../src/services/run/cast.ts'
import type { ScriptedTurn, ScriptedWindow } from '../../src/testing/script.ts'
import { ScriptedRuntime } from '../../src/testing/scripted-runtime.ts'
import { lostProcess } from '../../test/support/lost-process.ts'
import { need } from './hands.ts'
import { listed } from './parameter-types.ts'
import { windowOf } from './scripted-agent.ts'
import type { Stage } from './stage.ts'

/** How long a process that is to be lost may be silent. On a server this time really passes. */
const LEASE_MS = 150
const LONGER_MS = 250

/** Agents that take part in one run, and hand the work to each other. */
export class Casts {
  readonly #stage: Stage
  readonly #windows = new Map<string, ScriptedWindow[]>()
  #tokens = 0
  #agents: Record<string, ScriptedRuntime> | undefined
  #start = ''
  #task = ''
  #limits: Pick<CastRunRequest, 'fanOut' | 'budget'> = {}
  #onTurn: ((agent: string) => Promise<void>) | undefined

  constructor(stage: Stage) {
    this.#stage = stage
  }

  /** Rows of an agent, what it does in one of its windows, and the checkpoint it leaves. */
  takePart(tokens: number, rows: readonly (readonly string[])[]): void {
    this.#tokens = tokens
    for (const [agent = '', words = '', checkpoint = ''] of rows) {
      const windows = this.#windows.get(agent) ?? []
      const { end } = windowOf(words, tokens)
      windows.push({
        ...(end && { end }),
        turns: this.#turnsOf(words),
        checkpoint: `<checkpoint>${checkpoint}</checkpoint>`,
      })
      this.#windows.set(agent, windows)
    }
  }

  async begin(agent: string, task: string, store: Store = this.#stage.scene.store): Promise<void> {
    this.#start = agent
    this.#task = task
    await this.#run(store)
    await this.#enter()
  }

  /** Somebody hands the work on from outside, while the agent works. */
  async beginWhile(agent: string, task: string, target: string): Promise<void> {
    this.#onTurn = async () => {
      this.#onTurn = undefined
      const conversation = need(await this.#stage.history.conversationByKey(this.#key), 'a conversation')
      const [session] = (await this.#stage.history.sessions(conversation.id)).items
      const asked = {
        session: need(session, 'a session').id,
        byHand: true as const,
        targetAgent: this.#stage.named(target),
      }
      unwrap(await this.#stage.service.initiateHandoff(asked))
    }
    await this.begin(agent, task)
  }

  async lose(agent: string, task: string, last: AuditEvent['type']): Promise<void> {
    const isLast = ({ events }: { readonly events: readonly AuditEvent[] }): boolean =>
      events.some(({ type }) => type === last)
    const { store, lost } = lostProcess(this.#stage.scene.store, isLast)
    this.#start = agent
    this.#task = task
    void this.#run(store, LEASE_MS).catch(() => undefined)
    await lost
    await this.#stage.scene.passTime(LONGER_MS)
  }

  async runAgain(): Promise<void> {
    await this.#run(this.#stage.scene.store)
    await this.#enter()
  }

  async #run(store: Store, leaseMs = 60_000): Promise<void> {
    const batonpass = await createBatonpass({ store })
    const start = this.#stage.named(this.#start)
    const about = { prompt: this.#task, conversation: this.#key, policy: 'auto', leaseMs, ...this.#limits } as const
    await batonpass.run({ agents: this.#playing(), start, ...about }).finish()
  }

  #playing(): Record<string, ScriptedRuntime> {
    this.#agents ??= Object.fromEntries(
      [...this.#windows].map(([agent, windows]) => {
        const onStep = async ({ message }: { readonly message?: { readonly text: string } }): Promise<void> => {
          if (message?.text === SECOND) await this.#onTurn?.(agent)
        }
        const backend = this.#stage.named(`runtime of ${agent}`)
        return [this.#stage.named(agent), new ScriptedRuntime({ windows, windowTokens: this.#tokens, backend, onStep })]
      }),
    )
    return this.#agents
  }

  /** Limits of delegating, and the budget, where a scenario says them. */
  limit(limits: Pick<CastRunRequest, 'fanOut' | 'budget'>): void {
    this.#limits = { ...this.#limits, ...limits }
  }

  /**
   * "to NAME" after a turn: it asks with that turn that this agent takes over. "delegates TASK to NAME" after a turn: it
   * delegates with that turn, and becomes idle.
   */
  #turnsOf(words: string): readonly ScriptedTurn[] {
    const parts = listed(words)
    const delegating = this.#delegating(words, parts)
    if (delegating !== undefined) return delegating
    const { turns } = windowOf(words, this.#tokens)
    const [, target] = /^to (.+)$/.exec(parts.at(-1) ?? '') ?? []
    if (target === undefined) return turns
    const last = turns.at(-1)
    return last === undefined ? [] : [...turns.slice(0, -1), { ...last, handsOver: { to: this.#stage.named(target) } }]
  }

  #delegating(words: string, parts: readonly string[]): readonly ScriptedTurn[] | undefined {
    const { turns } = windowOf(words, this.#tokens)
    const wishes = turns.map((): ThreadAsked[] => [])
    let turn = -1
    for (const part of parts) {
      if (/^[\d.]+ %/.test(part)) turn += 1
      const [, task, agent] = /^delegates (.+) to (.+)$/.exec(part) ?? []
      if (task !== undefined && agent !== undefined) wishes[turn]?.push({ to: this.#stage.named(agent), task })
    }
    if (wishes.every((list) => list.length === 0)) return undefined
    return turns.map((one, index) => {
      const delegates = wishes[index] ?? []
      return delegates.length === 0 ? one : { ...one, delegates, rests: true }
    })
  }

  get #key(): string {
    return this.#stage.named('conversation')
  }

  async #enter(): Promise<void> {
    const found = await this.#stage.history.conversationByKey(this.#key)
    this.#stage.hands.enter(this.#key, need(found, 'a conversation').id)
  }
}

/** The answer with which the work is handed on from outside. */
const SECOND = 'My window is 20 % full.'
