import type { Answer } from '../../src/domain/decision.ts'
import {
  type AgentSessionId,
  agentSessionId,
  type ConversationId,
  conversationId,
  type HandoffId,
  type HolderToken,
  handoffId,
  type TurnId,
} from '../../src/domain/kernel/ids.ts'
import type { AgentSession } from '../../src/domain/session/agent-session.ts'
import { Scene, type StoreUnderTest } from '../../src/testing/scene.ts'
import { PlainModel, UNKNOWN } from './plain-model.ts'

/** The real thing and the plain model side by side; what has one place in the model has the same place here. */
export class World {
  readonly scene: Scene
  readonly model = new PlainModel()
  readonly conversations: ConversationId[] = []
  readonly sessions: AgentSessionId[] = []
  readonly handoffs: HandoffId[] = []
  readonly tokens: HolderToken[] = []
  /** Who ever held each session, the newest last. */
  readonly holders: number[][] = []
  /** Every copy of each session that was ever given out. */
  readonly copies: AgentSession[][] = []
  readonly turns: { readonly session: number; readonly id: TurnId }[] = []
  calls = 0

  constructor(under: StoreUnderTest) {
    this.scene = new Scene(under)
  }

  conversation(index: number): ConversationId {
    return this.conversations[index] ?? conversationId(this.scene.ids.next())
  }

  session(index: number): AgentSessionId {
    return this.sessions[index] ?? agentSessionId(this.scene.ids.next())
  }

  handoff(index: number): HandoffId {
    return this.handoffs[index] ?? handoffId(this.scene.ids.next())
  }

  /** The indices of the entities a rule of the model picks. */
  indices<T>(list: readonly T[], where: (item: T, index: number) => boolean): readonly number[] {
    return list.flatMap((item, index) => (where(item, index) ? [index] : []))
  }

  /**
   * Chooses an entity by a small number: mostly one the command makes sense for, sometimes any, seldom nobody.
   */
  pick(count: number, sensible: readonly number[], choice: number): number {
    if (choice % 16 === 15 || count === 0) return UNKNOWN
    const among =
      choice % 16 < 11 && sensible.length > 0 ? sensible : Array.from({ length: count }, (_, index) => index)
    return among[Math.floor(choice / 16) % among.length] ?? UNKNOWN
  }

  /** Remembers what a command gave, at the places the model has just given it. */
  learn({ conversation, session, handoff, holder, turns }: Answer): void {
    const { model } = this
    if (model.conversations.length > this.conversations.length && conversation) this.conversations.push(conversation.id)
    if (model.sessions.length > this.sessions.length && session) {
      this.sessions.push(session.id)
      this.copies.push([])
      this.holders.push([])
    }
    if (model.handoffs.length > this.handoffs.length && handoff) this.handoffs.push(handoff.id)
    const at = session === undefined ? UNKNOWN : this.sessions.indexOf(session.id)
    if (session !== undefined) this.copies[at]?.push(session)
    if (model.tokens > this.tokens.length && holder) {
      this.tokens.push(holder)
      this.holders[at]?.push(this.tokens.length - 1)
    }
    for (const { id } of turns ?? []) this.turns.push({ session: at, id })
  }
}
