import { type AgentSessionId, agentSessionId, type ConversationId } from '../../domain/kernel/ids.ts'
import { err, ok, type Result } from '../../domain/kernel/result.ts'
import type { AgentSession } from '../../domain/session/agent-session.ts'
import type { HandoffHistory } from '../../services/history/handoff-history.ts'
import type { LookBack } from '../../services/history/look-back-service.ts'
import { type SessionClues, sessionNames, sessionsHere } from './session-clues.ts'
import type { Caller, ToolRefusal } from './tool.ts'

/** The services that tools ask. */
export interface McpServices {
  readonly history: HandoffHistory
  readonly lookBack: Pick<LookBack, 'ask'>
}

/** The parts of an access. */
export interface AccessParts {
  /** Opens the record, unless it is open: not before a tool needs it, because the agent waits for this server's start. */
  readonly open: () => Promise<McpServices>
  /** Whether opening it costs little, because somebody has it open and shares it. */
  readonly isShared: () => boolean
  readonly clues: SessionClues
  /** Whether the person allows every conversation to be read. */
  readonly isAllAllowed: boolean
}

/** The access of a caller to the record: its own conversation, unless the person allows more. */
export class Access {
  readonly #parts: AccessParts

  constructor(parts: AccessParts) {
    this.#parts = parts
  }

  services(): Promise<McpServices> {
    return this.#parts.open()
  }

  /** Whether the record can be looked into at once. */
  get isAtHand(): boolean {
    return this.#parts.isShared()
  }

  /** The caller's own session. Looked for at each call: the same process has another one after `/clear`. */
  async own(caller: Caller): Promise<Result<AgentSession, ToolRefusal>> {
    const { clues } = this.#parts
    const { history } = await this.services()
    const names = sessionNames(clues, caller)
    if (names !== undefined) return (await firstKnown(history, names)) ?? err(unknownSession(names[0] ?? ''))
    const [session, ...others] = await sessionsHere(history, clues)
    if (session === undefined) return err(NO_SESSION)
    return others.length === 0 ? ok(session) : err(SEVERAL_SESSIONS)
  }

  /** The names of the caller's session, as far as they are known without the record. */
  namesOf(caller: Caller): readonly string[] {
    return sessionNames(this.#parts.clues, caller) ?? []
  }

  /** A session that the caller may read: its own, or another one that it names. */
  async session(caller: Caller, named: string | undefined): Promise<Result<AgentSession, ToolRefusal>> {
    if (named === undefined) return this.own(caller)
    const { history } = await this.services()
    const found = await firstKnown(history, [named])
    if (found?.ok !== true) return err(notThere('session'))
    const isReadable = await this.mayRead(caller, found.value.conversationId)
    return isReadable ? found : err(notThere('session'))
  }

  async mayRead(caller: Caller, conversation: ConversationId): Promise<boolean> {
    if (this.#parts.isAllAllowed) return true
    const own = await this.own(caller)
    return own.ok && own.value.conversationId === conversation
  }
}

const firstKnown = async (
  history: HandoffHistory,
  names: readonly string[],
): Promise<Result<AgentSession, never> | undefined> => {
  for (const name of names) {
    const id = idIn(name)
    const found = (id && (await history.session(id))) ?? (await history.sessionsOfProvider(name)).at(-1)
    if (found !== undefined) return ok(found)
  }
  return undefined
}

const idIn = (text: string): AgentSessionId | undefined => {
  try {
    return agentSessionId(text)
  } catch {
    return undefined
  }
}

/** The answer for what is not there, and for what the caller may not read: nobody learns which. */
export const notThere = (kind: 'session' | 'handoff'): ToolRefusal => ({
  code: `${kind}.not_found`,
  message: `There is no such ${kind} in your conversation. Leave the id out for your own, or ask "lineage" for the ids there are.`,
})

const unknownSession = (name: string): ToolRefusal => ({
  code: 'session.unknown',
  message: `Batonpass has no record of your session (${name.slice(0, 128)}) yet. Its start hook registers it: ask again in a moment, or let the person run "baton doctor".`,
})

const NO_SESSION: ToolRefusal = {
  code: 'session.unknown',
  message:
    'Batonpass cannot tell which session you are: no hook has reported one from this folder. The person can install the hooks, or name a session with "baton mcp --session ID".',
}

const SEVERAL_SESSIONS: ToolRefusal = {
  code: 'session.several',
  message:
    'Several sessions work in this folder, and Batonpass cannot tell which one you are. The person can name it with "baton mcp --session ID"; "baton status" lists them.',
}
