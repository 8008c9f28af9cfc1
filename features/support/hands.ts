import type { AgentSessionId, ConversationId, HandoffId, HolderToken, TurnId } from '../../src/domain/kernel/ids.ts'
import type { TurnsRecorded } from '../../src/domain/recording/record-turns.ts'
import type { WorkingSession } from '../../src/domain/session/agent-session.ts'

/**
 * What the callers of a scenario hold between commands: ids, tokens and their own copies of sessions.
 *
 * Only the verbs get it, to send it back in commands. No step can reach it, so no step can mistake it for the record.
 */
export class Hands {
  readonly #conversations = new Map<string, ConversationId>()
  readonly #sessions = new Map<string, WorkingSession[]>()
  readonly #turns = new Map<AgentSessionId, readonly TurnId[]>()
  readonly #calls = new Map<string, string>()
  #conversation: string | undefined
  #agent: string | undefined
  /** The handoff that was initiated last. */
  handoffId: HandoffId | undefined

  /** The keys of all conversations of the scenario, in the order they came. */
  get keys(): readonly string[] {
    return [...this.#conversations.keys()]
  }

  /** Continues a conversation. */
  enter(key: string, id: ConversationId): void {
    this.#conversations.set(key, id)
    this.#conversation = key
  }

  /** The key of the conversation the scenario is about. */
  get key(): string {
    return need(this.#conversation, 'a conversation')
  }

  get conversationId(): ConversationId {
    return need(this.#conversations.get(this.key), 'a conversation')
  }

  /** Takes a session as a command answered it; "it" means its agent from now on. */
  hold(working: WorkingSession): void {
    const { session, holder } = working
    const copies = this.#sessions.get(session.agentName) ?? []
    this.#sessions.set(session.agentName, [...copies, { session, holder }])
    this.#agent = session.agentName
  }

  /** Takes a session and its new turns. */
  recorded({ turns, session }: TurnsRecorded, holder: HolderToken): void {
    this.hold({ session, holder })
    const { id } = session
    this.#turns.set(id, [...(this.#turns.get(id) ?? []), ...turns.map((turn) => turn.id)])
  }

  /** The turns of an agent's session, or of "its" session. */
  turnsOf(agent?: string): readonly TurnId[] {
    return this.#turns.get(this.working(agent).session.id) ?? []
  }

  /** Does something elsewhere and comes back to the same conversation and agent. */
  async aside(work: () => Promise<void>): Promise<void> {
    const [conversation, agent] = [this.#conversation, this.#agent]
    await work()
    this.#conversation = conversation
    this.#agent = agent
  }

  /** The newest copy of an agent's session, or of "its" session. */
  working(agent = need(this.#agent, 'an agent')): WorkingSession {
    return need(this.#sessions.get(agent)?.at(-1), `a session of ${agent}`)
  }

  /** The first copy of the session an agent has, as it was when it started. */
  firstCopy(): WorkingSession {
    const { session } = this.working()
    return need(
      this.#sessions.get(session.agentName)?.find((copy) => copy.session.id === session.id),
      'a first copy',
    )
  }

  /** The newest copy that another process than the current one has. */
  former(agent: string): WorkingSession {
    const { holder } = this.working(agent)
    return need(
      this.#sessions.get(agent)?.findLast((copy) => copy.holder !== holder),
      'a former process',
    )
  }

  /** A new call of a tool, remembered by the tool's name. */
  call(toolName: string): { readonly callId: string; readonly toolName: string } {
    const callId = `call-${this.#calls.size + 1}-${toolName}`
    this.#calls.set(toolName, callId)
    return { callId, toolName }
  }

  /** The last call of a tool. */
  callId(toolName: string): string {
    return need(this.#calls.get(toolName), `a call of ${toolName}`)
  }
}

/** @throws Error when a scenario speaks of something it has not introduced */
export const need = <T>(value: T | undefined, what: string): T => {
  if (value === undefined) throw new Error(`The scenario has not introduced ${what} yet`)
  return value
}
