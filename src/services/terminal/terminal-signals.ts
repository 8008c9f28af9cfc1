import { defined } from '../../domain/kernel/defined.ts'
import type { AgentSessionId } from '../../domain/kernel/ids.ts'
import type { ContextSignal } from '../../domain/session/context-signal.ts'
import type { TerminalAgent } from '../../ports/agent/vendor.ts'
import type { FollowedSession } from './followed-session.ts'
import type { HookEventName, TerminalSignal } from './hook-event.ts'
import type { TerminalDeps } from './terminal-deps.ts'
import type { TerminalSessions } from './terminal-sessions.ts'

/** Safe points, at which everything that waits is said. */
const SAFE_POINTS: readonly HookEventName[] = ['session-start', 'user-prompt-submit']
/** Opportunities in the middle of the work, at which only what is urgent is said. */
const OPPORTUNITIES: readonly HookEventName[] = ['post-tool-use', 'stop']

/** Signals on their way to the agent of a terminal session, or to its person. They stay queued until acknowledged. */
export class TerminalSignals {
  readonly #deps: TerminalDeps
  readonly #sessions: TerminalSessions

  constructor(deps: TerminalDeps, sessions: TerminalSessions) {
    this.#deps = deps
    this.#sessions = sessions
  }

  /** The signals that an event of a session brings. */
  async at(at: FollowedSession, event: HookEventName): Promise<readonly TerminalSignal[]> {
    const isSafe = SAFE_POINTS.includes(event)
    if (!isSafe && !OPPORTUNITIES.includes(event)) return []
    const waiting = await this.waiting(at)
    return isSafe ? waiting : waiting.filter(({ delivery }) => delivery === 'urgent')
  }

  async waiting(at: FollowedSession): Promise<readonly TerminalSignal[]> {
    const waiting = await this.#deps.context.waiting(at.session.id)
    const wanted: TerminalSignal[] = []
    const agent = this.#deps.agents.named(at.runtime)
    for (const signal of waiting) if (await this.#isWanted(at, signal)) wanted.push(signalOut(signal, agent))
    return wanted
  }

  /** A caller that registered a session may have chosen that only it, or only its parent, is told of its window. */
  async #isWanted(at: FollowedSession, { kind, aboutId }: ContextSignal): Promise<boolean> {
    if (kind === 'message') return true
    if (aboutId === at.session.id) return at.tracking.notify !== 'parent'
    return (await this.#notifyOf(aboutId)) !== 'self'
  }

  async #notifyOf(session: AgentSessionId): Promise<'self' | 'parent' | undefined> {
    const child = await this.#deps.store.sessions.find(session)
    if (child?.providerSessionId === undefined) return undefined
    return (await this.#sessions.trackingOf(child.providerSessionId))?.notify
  }
}

/** A compaction of a session that no other one started is for the person: the agent has been through it. */
const signalOut = (signal: ContextSignal, agent: TerminalAgent): TerminalSignal => {
  const { id, kind, milestone, delivery, text, aboutId, recipientId } = signal
  const isOwn = aboutId === recipientId
  const isDue = kind === 'milestone' && isOwn && (milestone === 'critical' || milestone === 'restart')
  return defined({
    ...{ id, kind, milestone, delivery },
    text: isDue ? `${text} ${TOOL_OR_COMMAND} ${agent.adviceWhenFull.person}` : text,
    for: kind === 'compaction' && isOwn ? ('person' as const) : ('agent' as const),
  })
}

const TOOL_OR_COMMAND =
  'Keep a handoff document for the next session: call the tool handoff of the MCP server baton, or run `baton handoff FILE`.'
