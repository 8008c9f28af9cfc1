import type { Sha256 } from '../../domain/kernel/digest.ts'
import type { WindowSize } from '../../domain/window/context-pressure.ts'
import type { DoorFiles, DoorRuntime, TranscriptFiles } from '../../ports/door-files.ts'
import type { Logger } from '../../ports/logger.ts'
import type { Store } from '../../ports/store.ts'
import type { Clock, IdGenerator } from '../../ports/system.ts'
import type { WindowReader } from '../../ports/window-reader.ts'
import type { ContextService } from '../context-service.ts'
import type { HandoffService } from '../handoff-service.ts'

/** The readers of what terminal sessions say. */
export interface DoorReaders {
  readonly statusLine: WindowReader
  readonly transcripts: Readonly<Record<DoorRuntime, WindowReader>>
}

/** The dependencies of the door. */
export interface DoorDeps {
  readonly store: Store
  readonly handoffs: HandoffService
  readonly context: ContextService
  readonly clock: Clock
  readonly ids: IdGenerator
  readonly sha256: Sha256
  readonly logger: Logger
  readonly files: DoorFiles
  readonly transcripts: TranscriptFiles
  readonly readers: DoorReaders
  readonly believedWindow: (model: string) => WindowSize | undefined
  /** Applied before a long text is cut, so that no part of a secret is left at its end. */
  readonly redact?: (text: string) => string
}
