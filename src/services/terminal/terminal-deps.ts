import type { Sha256 } from '../../domain/kernel/digest.ts'
import type { AgentPresence } from '../../domain/session/agent-presence.ts'
import type { MonitorSettings } from '../../domain/window/context-monitor.ts'
import type { WindowSize } from '../../domain/window/context-pressure.ts'
import type { WindowReader } from '../../ports/agent/window-reader.ts'
import type { Store } from '../../ports/store/store.ts'
import type { Logger } from '../../ports/system/logger.ts'
import type { Clock, IdGenerator } from '../../ports/system/system.ts'
import type { PendingFiles } from '../../ports/terminal/pending-files.ts'
import type { TerminalFiles, TerminalRuntime, TranscriptFiles } from '../../ports/terminal/terminal-files.ts'
import type { HandoffService } from '../handoff-service.ts'
import type { ThreadCleanup } from '../thread/thread-cleanup.ts'
import type { ContextService } from '../window/context-service.ts'
import type { TerminalAgents } from './terminal-agents.ts'

/** The readers of what terminal sessions say. */
export interface TerminalReaders {
  readonly statusLine: WindowReader
  readonly transcripts: (runtime: TerminalRuntime) => WindowReader
}

/** The dependencies of the services of terminal sessions. */
export interface TerminalDeps {
  readonly store: Store
  readonly handoffs: HandoffService
  readonly context: ContextService
  readonly clock: Clock
  readonly ids: IdGenerator
  readonly sha256: Sha256
  readonly logger: Logger
  readonly files: TerminalFiles
  readonly pending: PendingFiles
  readonly transcripts: TranscriptFiles
  readonly readers: TerminalReaders
  readonly agents: TerminalAgents
  /** Looks for the process of a session's agent; without it nobody knows of any. */
  readonly agentOf?: (providerSessionId: string) => AgentPresence
  readonly believedWindow: (model: string) => WindowSize | undefined
  /** How the sessions of a folder are watched; as usual without it. */
  readonly watchingIn?: (cwd: string | undefined) => Promise<Omit<MonitorSettings, 'policy'>>
  /** Looks after the summaries in memory files; without it none is looked for. */
  readonly threads?: Pick<ThreadCleanup, 'clearAround' | 'end' | 'sweep' | 'waitingIn' | 'offerAt'>
  /** Applied before a long text is cut, so that no part of a secret is left at its end. */
  readonly redact?: (text: string) => string
  /** Is told that an event was taken, and how many secrets its hook had hidden in it. */
  readonly onTaken?: (hiddenByHook: number) => void
}
