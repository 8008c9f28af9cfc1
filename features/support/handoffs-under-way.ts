import type { HandoffCompleted } from '../../src/domain/handoff/settle-handoff.ts'
import { defined } from '../../src/domain/kernel/defined.ts'
import { type AgentSessionId, agentSessionId, handoffId } from '../../src/domain/kernel/ids.ts'
import { type MaybeHeld, mustHold } from '../../src/services/commands/answers.ts'
import type { InitiateRequest, ThreadRequest } from '../../src/services/commands/requests.ts'
import type { Command } from './attempts.ts'
import { need } from './hands.ts'
import type { Stage } from './stage.ts'

/** What a handoff may say about itself, beyond its target. */
export type HandoffWords = Partial<Omit<InitiateRequest, 'session' | 'holder' | 'byHand' | 'targetAgent'>>

/** What may be tried on the handoff that was initiated last. */
export type Deed = 'claim' | 'take' | 'cancel' | 'give up'

/** How conversations are passed on. Each verb is about the handoff that was initiated last. */
export class HandoffsUnderWay {
  readonly #stage: Stage

  constructor(stage: Stage) {
    this.#stage = stage
  }

  /** Hands the conversation of an agent, or of "it", to another. */
  handTo(targetAgent: string, words: HandoffWords = {}, agent?: string): Promise<void> {
    const { session, holder } = this.#stage.hands.working(agent)
    return this.#initiate({ session, holder, targetAgent, reason: 'The window is nearly full', ...words })
  }

  /** The former process of an agent hands its conversation on, though another one has its session. */
  handAsFormer(agent: string, targetAgent: string): Promise<void> {
    return this.#initiate({ ...this.#stage.hands.former(agent), targetAgent, reason: 'The window is nearly full' })
  }

  /** Somebody without a token, who says that they act by hand, or nothing. */
  handFromOutside(agent: string, targetAgent: string, by: { readonly byHand?: true }): Promise<void> {
    const { id: session } = this.#stage.hands.working(agent).session
    return this.#initiate({ session, targetAgent, ...by } as InitiateRequest)
  }

  /** Hands over pointing at one of its turns, and at the last calls of some tools. */
  handToNaming(targetAgent: string, turn: number, tools: readonly string[]): Promise<void> {
    const { hands } = this.#stage
    const priorTurn = need(hands.turnsOf()[turn - 1], `turn ${turn}`)
    return this.handTo(targetAgent, { priorTurn, toolCalls: tools.map((tool) => hands.callId(tool)) })
  }

  handToNamingTurnOf(other: string, targetAgent: string): Promise<void> {
    return this.handTo(targetAgent, { priorTurn: need(this.#stage.hands.turnsOf(other)[0], 'a foreign turn') })
  }

  handOffUnknown(targetAgent: string): Promise<void> {
    const session: AgentSessionId = agentSessionId(this.#stage.scene.ids.next())
    return this.#initiate({ session, byHand: true, targetAgent, reason: 'The window is nearly full' })
  }

  async passTo(agent: string): Promise<void> {
    await this.handTo(agent)
    await this.take(agent)
  }

  restart(): Promise<void> {
    return this.handTo(this.#stage.hands.working().session.agentName, { kind: 'context_restart' })
  }

  claim(claimant: string, claimMs?: number): Promise<void> {
    const { attempts } = this.#stage
    return attempts.ask(this.#claiming(claimant, claimMs))
  }

  renewClaim(claimant: string): Promise<void> {
    const { attempts, service } = this.#stage
    const handoff = this.#handoff()
    return attempts.ask((commandId) => service.renewClaim({ handoff, claimant, commandId }))
  }

  claimNext(targetAgent: string, claimant: string, claimMs?: number): Promise<void> {
    const { attempts, service } = this.#stage
    const request = defined({ targetAgent, claimant, claimMs })
    return attempts.ask((commandId) => service.claimNext({ ...request, commandId }))
  }

  take(claimant?: string, continuation?: string, handoff = this.#handoff()): Promise<void> {
    const { attempts, hands } = this.#stage
    return attempts.ask(this.#taking(claimant, continuation, handoff), (working) => hands.hold(mustHold(working)))
  }

  takeUnderLastId(claimant: string): Promise<void> {
    const { attempts, hands } = this.#stage
    // Asked again, it is answered without the token, which its holder has.
    return attempts.ask(
      this.#taking(claimant),
      (working) => (working.next === undefined ? hands.hold(working) : undefined),
      attempts.lastId,
    )
  }

  takeUnknown(claimant: string): Promise<void> {
    return this.take(claimant, undefined, handoffId(this.#stage.scene.ids.next()))
  }

  cancel(reason: string, by?: string): Promise<void> {
    return this.#stage.attempts.ask(this.#ending('cancelHandoff', reason, by))
  }

  giveUp(reason: string, by?: string): Promise<void> {
    return this.#stage.attempts.ask(this.#ending('failHandoff', reason, by))
  }

  try(deed: Deed, by: string): Promise<void> {
    const deeds: Readonly<Record<Deed, () => Promise<void>>> = {
      claim: () => this.claim(by),
      take: () => this.take(by),
      cancel: () => this.cancel('Not my field', by),
      'give up': () => this.giveUp('Not my field', by),
    }
    return deeds[deed]()
  }

  claimAtOnce(claimants: readonly string[]): Promise<void> {
    return this.#stage.attempts.race<unknown>(claimants.map((claimant) => this.#claiming(claimant)))
  }

  everythingAtOnce(claimant: string, taker: string): Promise<void> {
    return this.#stage.attempts.race<unknown>([
      this.#claiming(claimant),
      this.#taking(taker),
      this.#ending('cancelHandoff', 'Not needed'),
      this.#ending('failHandoff', 'No such agent'),
    ])
  }

  /** Opens a child conversation; "it" is its first agent from then on. */
  openThread(targetAgent: string, words: Pick<ThreadRequest, 'document' | 'child'>): Promise<void> {
    const { attempts, hands, service } = this.#stage
    const request = { ...hands.working(), targetAgent, reason: 'A side question', ...words }
    return attempts.ask(
      (commandId) => service.openThread({ ...request, commandId }),
      (opened) => hands.hold(mustHold(opened)),
    )
  }

  #handoff() {
    return need(this.#stage.hands.handoffId, 'a handoff')
  }

  #initiate(request: InitiateRequest): Promise<void> {
    const { attempts, hands, service } = this.#stage
    return attempts.ask(
      (commandId) => service.initiateHandoff({ ...request, commandId }),
      ({ handoff }) => {
        hands.handoffId = handoff.id
      },
    )
  }

  #claiming(claimant: string, claimMs?: number): Command<unknown> {
    const request = defined({ handoff: this.#handoff(), claimant, claimMs })
    return (commandId) => this.#stage.service.acceptHandoff({ ...request, commandId })
  }

  #taking(claimant?: string, continuation?: string, handoff = this.#handoff()): Command<MaybeHeld<HandoffCompleted>> {
    const request = defined({ handoff, claimant, continuation })
    return (commandId) => this.#stage.service.completeHandoff({ ...request, commandId })
  }

  #ending(verb: 'cancelHandoff' | 'failHandoff', reason: string, by?: string): Command<unknown> {
    const request = defined({ handoff: this.#handoff(), reason, by })
    return (commandId) => this.#stage.service[verb]({ ...request, commandId })
  }
}
