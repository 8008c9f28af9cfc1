import { statusLineReader } from './adapters/claude/status-line-reader.ts'
import { transcriptReader } from './adapters/claude/transcript-reader.ts'
import { rolloutReader } from './adapters/codex/rollout-reader.ts'
import { RolloutTail } from './adapters/codex/rollout-tail.ts'
import { sessionFiles } from './adapters/door/session-files.ts'
import { type Environment, transcriptFiles } from './adapters/door/transcript-files.ts'
import { buildContainer, type ContainerParts, TOKENS } from './container.ts'
import type { AuditService } from './services/audit-service.ts'
import { DoorRequests } from './services/door/door-requests.ts'
import { DoorService } from './services/door/door-service.ts'

/** A store, and where the door keeps what it knows beside it. */
export interface DoorParts extends ContainerParts {
  readonly folder: string
  /** Says where runtimes keep their transcripts; the environment of this process unless given. */
  readonly environment?: Environment
}

/** The door on a store, for whoever listens in front of it. */
export interface Door {
  readonly door: DoorService
  readonly requests: DoorRequests
  readonly audit: AuditService
  /** Ends what runs beside it; the store stays open. */
  close(): Promise<void>
}

/** Puts the door together from the container's parts. */
export const doorOn = async ({ folder, environment = process.env, ...given }: DoorParts): Promise<Door> => {
  const parts = buildContainer(given)
  const deps = {
    store: parts.resolve(TOKENS.store),
    handoffs: parts.resolve(TOKENS.handoffService),
    context: parts.resolve(TOKENS.contextService),
    clock: parts.resolve(TOKENS.clock),
    ids: parts.resolve(TOKENS.ids),
    sha256: parts.resolve(TOKENS.sha256),
    logger: parts.resolve(TOKENS.logger),
    redact: parts.resolve(TOKENS.redact),
    believedWindow: parts.resolve(TOKENS.believedWindow),
    files: await sessionFiles(folder),
    transcripts: transcriptFiles(environment, (path) => new RolloutTail(path)),
    readers: { statusLine: statusLineReader, transcripts: { claude: transcriptReader, codex: rolloutReader } },
  }
  const pruner = parts.resolve(TOKENS.commandPruner)
  const door = new DoorService(deps)
  const close = async (): Promise<void> => pruner.stop()
  return { door, requests: new DoorRequests(deps, door), audit: parts.resolve(TOKENS.auditService), close }
}
