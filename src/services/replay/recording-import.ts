import { keptName } from '../../domain/kernel/cut-text.ts'
import { defined } from '../../domain/kernel/defined.ts'
import type { Sha256 } from '../../domain/kernel/digest.ts'
import type { CommandId, ConversationId } from '../../domain/kernel/ids.ts'
import type { SessionStartedAnswer } from '../../domain/session/start-session.ts'
import { originOn } from '../../domain/turn/channel.ts'
import type { TurnInput } from '../../domain/turn/turn.ts'
import { unwrap } from '../../domain/unwrap.ts'
import type { UsageReading } from '../../domain/window/usage-reading.ts'
import { heldOrTaken, type MaybeHeld } from '../commands/answers.ts'
import { derivedCommand } from '../commands/derived-command.ts'
import type { HandoffService } from '../handoff-service.ts'
import type { HandoffHistory } from '../history/handoff-history.ts'
import { TurnCollector } from '../window/turn-collector.ts'
import type { RecordSeen } from './record-replay.ts'

/** The dependencies of an import. */
export interface RecordingImportDeps {
  /** Applied before a text is cut. */
  readonly redact?: (text: string) => string
  readonly handoffs: HandoffService
  readonly history: HandoffHistory
  readonly sha256: Sha256
  /** Names the recording when the runtime does not name its session. */
  readonly name: string
}

/** The outcome of an import. */
export interface Imported {
  readonly conversationId: ConversationId
  /** Turns of the recording. */
  readonly turns: number
  /** Turns that were not there before. */
  readonly added: number
  /** Texts of the recording of unknown origin: no hook has seen who wrote them. */
  readonly unknown: number
}

/** As many turns, or as much text, as go into one commit. */
const BATCH = { turns: 100, characters: 2_000_000 }

/**
 * Keeps a recording as a conversation, turn by turn while it is read.
 *
 * The conversation has a key made of the runtime's own session, and every command an id made of that key. So a recording
 * that is imported again adds nothing, and one that has grown adds what is new. No hook has seen its prompts, and anybody
 * can have written the file: they are of unknown origin.
 */
export class RecordingImport {
  readonly #deps: RecordingImportDeps
  readonly #collector: TurnCollector
  #session: string | undefined
  #format = 'unknown'
  #batch: TurnInput[] = []
  #characters = 0
  #turns = 0
  #known = 0
  #working: MaybeHeld<SessionStartedAnswer> | undefined

  constructor(deps: RecordingImportDeps) {
    this.#deps = deps
    const keep = (reading: UsageReading): UsageReading => asRecorded(reading, this.#format)
    this.#collector = new TurnCollector({ keep, sha256: deps.sha256, redact: deps.redact })
  }

  /** Takes the next record. */
  async take(seen: RecordSeen): Promise<void> {
    this.#format = seen.reader.format
    this.#session ??= keptName(seen.reader.words?.(seen.record).session)
    const texts = (seen.reader.words?.(seen.record).texts ?? []).map((text) =>
      text.role === 'user' ? { ...text, origin: originOn('recording', text.origin) } : text,
    )
    for (const turn of this.#collector.take({ ...seen, texts })) await this.#add(turn)
  }

  /** Keeps what is left. Nothing is kept of a recording without a turn of the main thread. */
  async end(): Promise<Imported | undefined> {
    for (const turn of this.#collector.rest()) await this.#add(turn)
    await this.#keep()
    if (this.#working === undefined) return undefined
    const { conversationId } = this.#working.session
    const added = this.#turns - Math.min(this.#known, this.#turns)
    return { conversationId, turns: this.#turns, added, unknown: this.#collector.unknown }
  }

  async #add(turn: TurnInput): Promise<void> {
    this.#working ??= await this.#open()
    this.#turns += 1
    if (this.#turns <= this.#known) return
    this.#batch.push(turn)
    this.#characters += turn.messages.reduce((sum, { text }) => sum + text.length, 0)
    if (this.#batch.length >= BATCH.turns || this.#characters >= BATCH.characters) await this.#keep()
  }

  async #keep(): Promise<void> {
    if (this.#working === undefined || this.#batch.length === 0) return
    const named = this.#command(`turns ${this.#turns - this.#batch.length + 1} to ${this.#turns}`)
    // One that an earlier import has started is taken over, if there is something to add.
    const working = unwrap(await heldOrTaken(this.#deps.handoffs, this.#working))
    const request = { ...working, turns: this.#batch, commandId: named }
    const { session, monitor } = unwrap(await this.#deps.handoffs.recordTurns(request))
    this.#working = { holder: working.holder, session, monitor }
    this.#batch = []
    this.#characters = 0
  }

  async #open(): Promise<MaybeHeld<SessionStartedAnswer>> {
    const { handoffs, history, name } = this.#deps
    const { model } = this.#collector
    // No prompt of it is the task: nobody vouches for who wrote it, and a task is carried as an instruction.
    const originalTask = `Imported from ${name}`
    const { conversation } = unwrap(await handoffs.openConversation({ originalTask, externalKey: this.#key() }))
    const agent = { conversationId: conversation.id, agentName: this.#format, backend: this.#format }
    // What is over needs no watch: nobody is to be told, and nothing to be restarted.
    const monitor = { isEnabled: false }
    const details = defined({ ...agent, model, providerSessionId: this.#session, monitor })
    const started = unwrap(await handoffs.startSession({ ...details, commandId: this.#command('session') }))
    // Started before, it is answered as it was then; how far it has come since is asked anew.
    const session = (await history.session(started.session.id)) ?? started.session
    this.#known = session.progress.turns
    return { ...started, session }
  }

  #key(): string {
    return `replay:${this.#format}:${this.#session ?? this.#deps.name}`
  }

  /** The same id for the same part of the same recording. */
  #command(part: string): CommandId {
    return derivedCommand(this.#deps.sha256, `${this.#key()} ${part}`)
  }
}

/** A turn keeps what its request said, and who said it; what came after it is in the next one. */
const asRecorded = (reading: UsageReading, runtime: string): UsageReading => {
  if (reading.state === 'unknown') return reading
  if (reading.state === 'percentage')
    return { ...reading, provenance: { runtime, source: 'recording', semantics: 'lower_bound' } }
  const { pendingTokens: _, ...figures } = reading
  // Read from the end, so nothing of it is still to come.
  return { ...figures, provenance: { runtime, source: 'recording', semantics: 'exact' } }
}
