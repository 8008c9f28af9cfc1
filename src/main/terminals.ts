import { RolloutTail } from '../adapters/codex/readers/rollout-tail.ts'
import { agentOf } from '../adapters/hook-client/agent-process.ts'
import { pendingFiles } from '../adapters/terminal/pending-files.ts'
import { sessionFiles } from '../adapters/terminal/session-files.ts'
import { transcriptFiles } from '../adapters/terminal/transcript-files.ts'
import { defined } from '../domain/kernel/defined.ts'
import type { Environment } from '../ports/system/environment.ts'
import type { AuditService } from '../services/audit/audit-service.ts'
import { TerminalAgents } from '../services/terminal/terminal-agents.ts'
import { TerminalRequests } from '../services/terminal/terminal-requests.ts'
import { TerminalService } from '../services/terminal/terminal-service.ts'
import { buildContainer, type ContainerParts, TOKENS } from './container.ts'
import { TERMINAL_AGENTS, terminalReaders } from './runtimes.ts'
import { watchingBy } from './terminal-settings.ts'

/** A store, and where the service keeps what it knows of terminal sessions beside it. */
export interface TerminalParts extends ContainerParts {
  readonly folder: string
  /** Says where runtimes keep their transcripts; the environment of this process unless given. */
  readonly environment?: Environment
  /** Is told that an event was taken, and how many secrets its hook had hidden in it. */
  readonly onTaken?: (hiddenByHook: number) => void
}

/** Terminal sessions on a store, for the service that listens in front of it. */
export interface Terminals {
  readonly terminals: TerminalService
  readonly requests: TerminalRequests
  readonly audit: AuditService
  /** Ends what runs beside it; the store stays open. */
  close(): Promise<void>
}

/** Puts the services of terminal sessions together from the container's parts. */
export const terminalsOn = async ({
  folder,
  environment = process.env,
  onTaken = () => undefined,
  ...given
}: TerminalParts): Promise<Terminals> => {
  const offerAt = environment.BATONPASS_OFFER_THREADS_AT?.trim() || undefined
  // A person works these sessions: nobody would carry out a restart that a turn begins by itself.
  const { policy: _, ...monitor } = given.monitor ?? {}
  const parts = buildContainer({ ...given, monitor, threads: { ...defined({ offerAt }), ...given.threads } })
  const agents = new TerminalAgents(TERMINAL_AGENTS)
  const names = TERMINAL_AGENTS.map(({ name }) => name)
  const deps = {
    store: parts.resolve(TOKENS.store),
    handoffs: parts.resolve(TOKENS.handoffService),
    context: parts.resolve(TOKENS.contextService),
    clock: parts.resolve(TOKENS.clock),
    ids: parts.resolve(TOKENS.ids),
    sha256: parts.resolve(TOKENS.sha256),
    logger: parts.resolve(TOKENS.logger),
    redact: parts.resolve(TOKENS.redact),
    onTaken,
    agentOf: (session: string) => agentOf(folder, session),
    believedWindow: parts.resolve(TOKENS.believedWindow),
    watchingIn: watchingBy(folder, parts.resolve(TOKENS.logger)),
    files: await sessionFiles(folder, names),
    pending: await pendingFiles(folder, names),
    transcripts: transcriptFiles(
      environment,
      (path) => new RolloutTail(path),
      (runtime) => agents.named(runtime).transcripts,
    ),
    threads: parts.resolve(TOKENS.threadCleanup),
    readers: await terminalReaders(),
    agents,
  }
  const pruner = parts.resolve(TOKENS.commandPruner)
  const terminals = new TerminalService(deps)
  const close = async (): Promise<void> => pruner.stop()
  return {
    terminals,
    requests: new TerminalRequests(deps, terminals),
    audit: parts.resolve(TOKENS.auditService),
    close,
  }
}
