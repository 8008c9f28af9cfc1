import type { HandoffMetadata } from '../../../src/domain/handoff/handoff.ts'
import type { ConversationId } from '../../../src/domain/kernel/ids.ts'
import type { AgentSession, WorkingSession } from '../../../src/domain/session/agent-session.ts'
import type { Turn } from '../../../src/domain/turn/turn.ts'
import type { ContextMonitor } from '../../../src/domain/window/context-monitor.ts'
import type { HandoffService } from '../../../src/services/handoff-service.ts'
import type { HandoffHistory } from '../../../src/services/history/handoff-history.ts'
import type { Chance } from '../chance.ts'
import type { Services } from './moves.ts'

/** A session this client works, as the last answer had it. */
export interface Held extends WorkingSession {
  readonly monitor?: ContextMonitor
  readonly turns?: readonly Turn[]
}

/** The parts that answers have in common. */
export interface AnyAnswer {
  readonly conversation?: { readonly id: ConversationId }
  readonly session?: AgentSession
  readonly holder?: WorkingSession['holder']
  readonly handoff?: HandoffMetadata
  readonly monitor?: ContextMonitor
  readonly turns?: readonly Turn[]
  readonly snapshot?: { readonly id: string }
  readonly signals?: readonly { readonly id: string }[]
}

/** How much a client remembers; what is older it meets again only through others. */
const MEMORY = 24
/** Clients meet in these, and in new ones after a while, so that no conversation grows without end. */
const SHARED = 8
const SHARED_FOR_MS = 15_000

/** Who a client is, and whom it meets. */
export interface Surroundings {
  readonly name: string
  readonly chance: Chance
  readonly agents?: readonly string[]
  /** Which keys it shares with others; by the time of day unless given. */
  readonly keys?: () => string
  /** Claims and leases last so much longer. */
  readonly longerMs?: number
  /** It never looks for what others have left. */
  readonly isAlone?: boolean
}

/** What one client knows of the store: what it holds, and what it may find there. */
export class World {
  readonly name: string
  readonly chance: Chance
  readonly service: HandoffService
  readonly history: HandoffHistory
  readonly #surroundings: Surroundings
  readonly #conversations: ConversationId[] = []
  readonly #held = new Map<string, Held>()
  readonly #handoffs = new Map<string, HandoffMetadata>()

  constructor({ handoffs, history }: Pick<Services, 'handoffs' | 'history'>, surroundings: Surroundings) {
    this.service = handoffs
    this.history = history
    this.name = surroundings.name
    this.chance = surroundings.chance
    this.#surroundings = surroundings
  }

  /** The conversations it has met. */
  get conversations(): readonly ConversationId[] {
    return this.#conversations
  }

  agent(): string {
    return this.chance.one(this.#surroundings.agents ?? ['claude-code', 'opus', 'sonnet']) ?? 'opus'
  }

  /** A time for claims and leases: mostly short, so that what a killed client had is free again soon. */
  briefMs(): number {
    const brief = this.chance.happens(0.8) ? 50 + this.chance.below(1_500) : 5_000
    return brief + (this.#surroundings.longerMs ?? 0)
  }

  /** A key that other clients open too. */
  sharedKey(): string {
    const { keys = () => String(Math.floor(Date.now() / SHARED_FOR_MS)) } = this.#surroundings
    return `shared-${keys()}-${this.chance.below(SHARED)}`
  }

  conversation(): ConversationId | undefined {
    return this.chance.one(this.#conversations)
  }

  held(which: (held: Held) => boolean = () => true): Held | undefined {
    return this.chance.one([...this.#held.values()].filter(which))
  }

  /** The token for a session, where this client has one. */
  tokenFor(session: AgentSession['id']): Pick<WorkingSession, 'holder'> | undefined {
    const held = this.#held.get(session)
    return held && { holder: held.holder }
  }

  /** A session that may be somebody else's: mostly one this client works. */
  async session(): Promise<(Pick<Held, 'session'> & Partial<Held>) | undefined> {
    const own = this.held()
    if (own !== undefined && this.chance.happens(0.7)) return own
    const conversation = this.conversation()
    const session = conversation && (await this.history.activeSession(conversation))
    return session === undefined ? own : { session }
  }

  /** A handoff that was open when it was last heard of, own or anybody's; rather one that is preferred. */
  async handoff(isPreferred: (handoff: HandoffMetadata) => boolean): Promise<HandoffMetadata | undefined> {
    const all = [...this.#handoffs.values()]
    const known = this.chance.one(all.filter(isPreferred)) ?? this.chance.one(all)
    if (this.#surroundings.isAlone === true || (known !== undefined && this.chance.happens(0.7))) return known
    const { items } = await this.history.listHandoffs({ isOpen: true, order: 'newest_first' }, { limit: 5 })
    return this.chance.one(items) ?? known
  }

  /** Takes in what an answer says. */
  learn({ conversation, session, holder, handoff, monitor, turns }: AnyAnswer): void {
    if (conversation !== undefined) this.#meet(conversation.id)
    if (session !== undefined) this.#meet(session.conversationId)
    const known = session && this.#held.get(session.id)
    const token = holder ?? known?.holder
    if (session !== undefined && token !== undefined) {
      const watched = monitor ?? known?.monitor
      this.#remember(this.#held, session.id, {
        session,
        holder: token,
        ...(watched !== undefined && { monitor: watched }),
        ...(turns !== undefined && { turns }),
      })
    }
    if (handoff === undefined) return
    if (handoff.status === 'initiated' || handoff.status === 'accepted') {
      this.#remember(this.#handoffs, handoff.id, handoff)
    } else this.#handoffs.delete(handoff.id)
  }

  /** What was refused is likely out of date. */
  forget({ session, handoff }: { readonly session?: unknown; readonly handoff?: unknown }): void {
    if (this.chance.happens(0.5)) return
    this.#held.delete(idOf(session))
    this.#handoffs.delete(idOf(handoff))
  }

  #meet(id: ConversationId): void {
    if (this.#conversations.includes(id)) return
    this.#conversations.push(id)
    if (this.#conversations.length > MEMORY) this.#conversations.shift()
  }

  #remember<T>(among: Map<string, T>, id: string, value: T): void {
    among.delete(id)
    among.set(id, value)
    const [oldest] = among.keys()
    if (among.size > MEMORY && oldest !== undefined) among.delete(oldest)
  }
}

const idOf = (named: unknown): string =>
  typeof named === 'object' && named !== null && 'id' in named ? String(named.id) : String(named)
