import type { AgentSessionId } from '../../src/domain/kernel/ids.ts'
import { instant } from '../../src/domain/kernel/instant.ts'
import type { ContextSignal } from '../../src/domain/session/context-signal.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import type { MonitorSettings, PressurePolicy } from '../../src/domain/window/context-monitor.ts'
import type { MonitorReport } from '../../src/domain/window/monitor-reports.ts'
import { ContextService } from '../../src/services/window/context-service.ts'
import { need } from './hands.ts'
import type { Stage } from './stage.ts'
import { turnOf } from './turns.ts'

/** What runtimes say about windows, and what people choose about them. */
export class Windows {
  /** The signals that listeners were sent. */
  readonly announced: ContextSignal[] = []
  readonly #stage: Stage
  readonly #context: ContextService
  #tokens = 0

  constructor(stage: Stage) {
    this.#stage = stage
    const { clock, ids } = stage.scene
    const notifier = { notify: (signal: ContextSignal) => void this.announced.push(signal) }
    this.#context = new ContextService({ store: stage.faults.store, clock, ids, notifier })
  }

  /** Opens a conversation and starts a session whose window is so large. */
  async begin(agentName: string, tokens: number, policy?: PressurePolicy): Promise<void> {
    const { hands, service } = this.#stage
    this.#tokens = tokens
    const externalKey = this.#stage.named('conversation')
    const { conversation } = unwrap(await service.openConversation({ originalTask: 'Fix the flaky test', externalKey }))
    hands.enter(externalKey, conversation.id)
    await this.#start(agentName, { contextLimit: tokens, ...(policy && { policy }) })
  }

  /** Starts a session in a conversation of its own, as the child of another. */
  async beginChild(agentName: string, parent: string): Promise<void> {
    const { hands, service } = this.#stage
    const parentSessionId = hands.working(parent).session.id
    await hands.aside(async () => {
      const externalKey = this.#stage.named(`work of ${agentName}`)
      const { conversation } = unwrap(await service.openConversation({ originalTask: 'Help', externalKey }))
      hands.enter(externalKey, conversation.id)
      await this.#start(agentName, { contextLimit: this.#tokens }, parentSessionId)
    })
  }

  async read(percents: readonly number[], agent?: string): Promise<void> {
    for (const percent of percents) await this.#report({ type: 'sample', reading: this.#reading(percent) }, agent)
  }

  /** Nothing in common with the first process but the store. */
  async readElsewhere(percent: number): Promise<void> {
    const elsewhere = this.#stage.scene.contextOver(this.#stage.scene.store)
    const { id: session } = this.#stage.hands.working().session
    unwrap(await elsewhere.report({ session, report: { type: 'sample', reading: this.#reading(percent) } }))
  }

  async readAt(percent: number, second: number): Promise<void> {
    await this.#report({ type: 'sample', reading: this.#reading(percent), producedAt: producerTime(second) })
  }

  async compacted(second?: number): Promise<void> {
    const at = second === undefined ? {} : { producedAt: producerTime(second) }
    await this.#report({ type: 'compaction', trigger: 'auto', ...at })
  }

  async compactedIn(agent: string): Promise<void> {
    await this.#report({ type: 'compaction', trigger: 'auto' }, agent)
  }

  async choose(settings: MonitorSettings): Promise<void> {
    const { id: session } = this.#stage.hands.working().session
    unwrap(await this.#context.watch({ session, settings }))
  }

  async fills(percent: number, tools: readonly string[]): Promise<void> {
    const { hands, service } = this.#stage
    const calls = tools.map((tool) => hands.call(tool))
    const turn = { ...turnOf('user', calls), usage: this.#reading(percent) }
    const working = hands.working()
    const recorded = unwrap(await service.recordTurn({ ...working, ...turn }))
    hands.recorded(recorded, working.holder)
    hands.handoffId = recorded.handoff?.id
  }

  async cancelRestart(): Promise<void> {
    const { hands, service } = this.#stage
    const handoff = need(hands.handoffId, 'a restart')
    const { session } = unwrap(await service.cancelHandoff({ handoff, reason: 'The checkpoint failed' }))
    hands.hold({ ...hands.working(), session })
  }

  async acknowledgeUrgent(agent: string): Promise<void> {
    const { id } = this.#stage.hands.working(agent).session
    const urgent = (await this.#context.waiting(id)).filter(({ delivery }) => delivery === 'urgent')
    await this.#context.acknowledge(
      id,
      urgent.map((signal) => signal.id),
    )
  }

  async #start(agentName: string, monitor: MonitorSettings, parentSessionId?: AgentSessionId): Promise<void> {
    const { hands, service } = this.#stage
    const request = { conversationId: hands.conversationId, agentName, backend: 'scripted', monitor }
    hands.hold(unwrap(await service.startSession({ ...request, ...(parentSessionId && { parentSessionId }) })))
  }

  async #report(report: MonitorReport, agent?: string): Promise<void> {
    const { id: session } = this.#stage.hands.working(agent).session
    unwrap(await this.#context.report({ session, report }))
  }

  #reading(percent: number) {
    return { state: 'metered' as const, promptTokens: (this.#tokens * percent) / 100, outputTokens: 0 }
  }
}

/** A second of the producer's own clock. */
const producerTime = (second: number) => instant(Date.UTC(2000, 0, 1, 0, 0, second))
