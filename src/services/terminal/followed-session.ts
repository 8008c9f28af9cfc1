import { defined } from '../../domain/kernel/defined.ts'
import type { CommandId, HolderToken } from '../../domain/kernel/ids.ts'
import type { AgentSession } from '../../domain/session/agent-session.ts'
import type { ContextMonitor } from '../../domain/window/context-monitor.ts'
import type { KeptSession, TerminalRuntime } from '../../ports/terminal/terminal-files.ts'

/** Events come twice, not a hundred times: as many are remembered as can be on their way at once. */
const EVENTS_REMEMBERED = 64

/** A terminal session while one of its events is taken: what is stored, what is kept beside it, and what changed. */
export class FollowedSession {
  readonly providerSessionId: string
  session: AgentSession
  monitor: ContextMonitor | undefined
  tracking: KeptSession
  /** Whether this event made it. */
  isNew = false

  constructor(providerSessionId: string, session: AgentSession, tracking: KeptSession) {
    this.providerSessionId = providerSessionId
    this.session = session
    this.tracking = tracking
  }

  get runtime(): TerminalRuntime {
    return this.tracking.runtime
  }

  /** Names everything that is derived from the provider session. */
  get key(): string {
    return externalKey(this.runtime, this.providerSessionId)
  }

  /** Changes what is kept. A part that is undefined is taken away. */
  keep(change: { readonly [Part in keyof KeptSession]?: KeptSession[Part] | undefined }): void {
    this.tracking = defined({ ...this.tracking, ...change }) as KeptSession
  }

  /** Takes the answer of a command. */
  update(answer: { readonly session?: AgentSession; readonly monitor?: ContextMonitor | undefined }): void {
    this.session = answer.session ?? this.session
    this.monitor = answer.monitor ?? this.monitor
  }

  /** Goes over to the session that works the provider session from now on. */
  moveTo(session: AgentSession, holder: HolderToken, monitor: ContextMonitor): void {
    this.update({ session, monitor })
    this.keep({ sessionId: session.id, holder })
  }

  hasTaken(event: CommandId): boolean {
    return this.tracking.events.includes(event)
  }

  remember(event: CommandId): void {
    this.keep({ events: [...this.tracking.events, event].slice(-EVENTS_REMEMBERED) })
  }
}

/** The key of the conversation of a terminal session. */
export const externalKey = (runtime: TerminalRuntime, providerSessionId: string): string =>
  `${runtime}:${providerSessionId}`
