import { unwrap } from '../../src/domain/unwrap.ts'
import { need } from './hands.ts'
import type { Stage } from './stage.ts'
import { turnOf } from './turns.ts'

interface Wait {
  readonly stop: AbortController
  readonly ended: Promise<unknown>
}

/** Worker processes that look for handoffs meant for their agent. */
export class Workers {
  readonly #stage: Stage
  readonly #waits = new Map<string, Wait>()

  constructor(stage: Stage) {
    this.#stage = stage
  }

  /** Conversations that are all handed to one agent, one after the other. */
  async queue(count: number, targetAgent: string): Promise<void> {
    const { hands, service } = this.#stage
    const agentName = this.#stage.named('claude-code')
    for (let number = 1; number <= count; number += 1) {
      const externalKey = this.#stage.named(`waiting-${number}`)
      const { id } = unwrap(await service.openConversation({ originalTask: 'Fix the test', externalKey })).conversation
      const working = unwrap(await service.startSession({ conversationId: id, agentName, backend: 'scripted' }))
      const worked = unwrap(await service.recordTurn({ ...working, ...turnOf('user') }))
      unwrap(await service.initiateHandoff({ ...worked, targetAgent, reason: 'The window is nearly full' }))
      hands.enter(externalKey, id)
    }
  }

  /** Each claims again and again, all at the same time, until nothing waits. */
  async claimAll(targetAgent: string, workers: readonly string[]): Promise<void> {
    const { service } = this.#stage
    await Promise.all(
      workers.map(async (claimant) => {
        for (;;) {
          const { handoff } = unwrap(await service.claimNext({ targetAgent, claimant }))
          if (handoff === undefined) return
        }
      }),
    )
  }

  waitFor(targetAgent: string, claimant: string): void {
    const stop = new AbortController()
    const { signal } = stop
    const ended = this.#stage.service.claimNext({ targetAgent, claimant, wait: true, pollMs: 5, signal })
    this.#waits.set(claimant, { stop, ended: ended.catch(onlyIfStopped(signal)) })
  }

  async found(claimant: string): Promise<void> {
    await need(this.#waits.get(claimant), `waiting of ${claimant}`).ended
  }

  async stop(claimant: string): Promise<void> {
    const { stop, ended } = need(this.#waits.get(claimant), `waiting of ${claimant}`)
    stop.abort()
    await ended
  }

  /** Nobody keeps waiting after the scenario. */
  async stopAll(): Promise<void> {
    await Promise.all([...this.#waits.keys()].map((claimant) => this.stop(claimant)))
  }
}

const onlyIfStopped =
  (signal: AbortSignal) =>
  (error: unknown): void => {
    if (!signal.aborted) throw error
  }
