import type { HandoffHistory, HandoffService } from '../src/entry/container.ts'
import { type Conversation, unwrap, type WorkingSession } from '../src/entry/index.ts'
import type { HandoffAndSource, MonitorSettings } from '../src/entry/ports.ts'
import { AGENTS, BACKEND, CLAIMANT, ORIGINAL_TASK, REASON, type Seat, type Side, turnInput } from './seat.ts'

/** The services of the library over one store. */
export interface Services {
  readonly service: HandoffService
  readonly history: HandoffHistory
}

/** The library as people call it: it holds the session it was given, and checks every rule. */
export class OurSeat implements Seat {
  readonly conversationId: WorkingSession['session']['conversationId']
  readonly #service: HandoffService
  readonly #history: HandoffHistory
  #working: WorkingSession
  readonly #conversation: Conversation
  #initiated: HandoffAndSource | undefined

  constructor({ service, history }: Services, conversation: Conversation, working: WorkingSession) {
    this.#service = service
    this.#history = history
    this.#conversation = conversation
    this.#working = working
    this.conversationId = working.session.conversationId
  }

  get working(): WorkingSession {
    return this.#working
  }

  async recordTurn(): Promise<void> {
    const turn = turnInput(this.#working.session.progress.turns + 1)
    this.#working = { ...this.#working, ...unwrap(await this.#service.recordTurn({ ...this.#working, ...turn })) }
  }

  async snapshot(): Promise<void> {
    unwrap(await this.#service.captureSnapshot(this.#working))
  }

  async initiate(): Promise<void> {
    const targetAgent = AGENTS.find((name) => name !== this.#working.session.agentName) ?? AGENTS[0]
    this.#initiated = unwrap(await this.#service.initiateHandoff({ ...this.#working, targetAgent, reason: REASON }))
  }

  async acceptAndComplete(): Promise<void> {
    if (this.#initiated === undefined) throw new Error('There is no handoff to accept')
    const held = { ...this.#initiated, conversation: this.#conversation }
    const accepted = unwrap(await this.#service.acceptHandoff({ ...held, claimant: CLAIMANT }))
    // The floor is told how the successor opens, and so are we: otherwise the person's words are read for it.
    const opening = { claimant: CLAIMANT, continuation: ORIGINAL_TASK }
    this.#working = unwrap(await this.#service.completeHandoff({ ...accepted, ...opening }))
  }

  async activeSession(): Promise<void> {
    if ((await this.#history.activeSession(this.conversationId)) === undefined) throw new Error('Nobody is at work')
  }

  async lineage(): Promise<void> {
    if ((await this.#history.lineage(this.conversationId)) === undefined) throw new Error('There is no lineage')
  }
}

/** Opens a conversation through the library. The floor begins with one too, in its own schema. */
export const openSeat = async (services: Services, turns: number, monitor: MonitorSettings = {}): Promise<OurSeat> => {
  const { service } = services
  const { conversation } = unwrap(await service.openConversation({ originalTask: ORIGINAL_TASK }))
  const agent = { agentName: AGENTS[0], backend: BACKEND, monitor }
  const seat = new OurSeat(
    services,
    conversation,
    unwrap(await service.startSession({ conversationId: conversation.id, ...agent })),
  )
  for (let turn = 0; turn < turns; turn += 1) await seat.recordTurn()
  return seat
}

export const ours = (services: Services): Side => ({
  name: 'ours',
  open: (turns, monitor) => openSeat(services, turns, monitor),
})
