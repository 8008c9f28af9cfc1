import { RecentKeys } from '../../domain/kernel/recent-keys.ts'
import { heldBy } from '../../domain/session/agent-session.ts'
import type { Candidate } from '../../ports/terminal/pending-files.ts'
import type { TranscriptTail } from '../../ports/terminal/terminal-files.ts'
import { derivedCommand } from '../commands/derived-command.ts'
import { pauseFor } from '../commands/pause-for.ts'
import type { FollowedSession } from './followed-session.ts'
import { notePrompts, whoseWords } from './seen-prompts.ts'
import type { TerminalDeps } from './terminal-deps.ts'
import type { TerminalSessions } from './terminal-sessions.ts'
import { TranscriptImport, type TranscriptItem } from './transcript-import.ts'
import type { Compactions } from './window-reports.ts'
import { reported } from './window-reports.ts'

/** As many transcripts are followed at once; one that was dropped is read again from its beginning. */
const FOLLOWED = 256

/** A runtime writes its transcript a moment after it has called tools: so long it is waited for, and never longer. */
const MOST_LAG_MS = 30_000
const LOOK_MS = 20

const UNKNOWN =
  'no hook saw who wrote a prompt in the transcript, and its runtime does not mark it as typed: it is of unknown origin'

/** The moment at which a transcript is read. */
interface TranscriptMoment {
  /** Whether the agent has stopped: then the turn that is still open is over as well. */
  readonly isAtRest: boolean
  /** The tool calls that the transcript should have by now, or the agent's answer. */
  readonly upTo?: readonly string[] | 'answer'
  /** How long to wait until it has them; not at all unless given. */
  readonly waitMs?: number
}

/** A transcript that is followed, and what it is read with. */
interface Followed {
  readonly path: string
  readonly variables: string
  readonly transcript: TranscriptImport
}

const isBehind = (transcript: TranscriptImport, { upTo = [] }: TranscriptMoment): boolean =>
  upTo === 'answer' ? !transcript.isAnswered : !transcript.hasCalls(upTo)

/** Records the new part of a session's transcript as turns, once, however often and after whatever crash it is asked. */
export class TurnImport {
  readonly #deps: TerminalDeps
  readonly #sessions: TerminalSessions
  readonly #compactions: Compactions
  readonly #followed = new Map<string, Followed>()
  /** The sessions of which it was said that nobody knows who wrote some of their prompts. */
  readonly #saidUnknown = new RecentKeys()

  constructor(deps: TerminalDeps, sessions: TerminalSessions, compactions: Compactions) {
    this.#deps = deps
    this.#sessions = sessions
    this.#compactions = compactions
  }

  /** Takes what the transcript has grown by. A session that somebody else works is left to them. */
  async take(at: FollowedSession, options: TranscriptMoment): Promise<void> {
    if (at.tracking.holder === undefined || at.tracking.transcriptPath === undefined) return
    const transcript = await this.#transcriptOf(at, at.tracking.transcriptPath)
    if (transcript === undefined) return
    // The transcript may be ahead of the events: a prompt is put aside before its runtime writes it down.
    notePrompts(this.#deps, at, await this.#deps.files.waitingPrompts(at.providerSessionId))
    let isWhole = false
    try {
      // Only a transcript that has everything can say that its last turn is over.
      isWhole = await this.#record(at, transcript.items({ isAtRest: false }))
      const until = performance.now() + Math.min(options.waitMs ?? 0, MOST_LAG_MS)
      while (isWhole && isBehind(transcript, options) && performance.now() < until) {
        await pauseFor(LOOK_MS)
        isWhole = await this.#record(at, transcript.items({ isAtRest: false }))
      }
      if (isWhole && options.isAtRest) isWhole = await this.#record(at, transcript.items(options))
      // The agent is told of its window before its next request, and only that request ends the turn.
      const sample = isWhole && !options.isAtRest ? transcript.sample() : undefined
      if (sample !== undefined) await reported(this.#deps, at, sample)
    } finally {
      // The transcript was read further than it was recorded: it is read again from the beginning.
      if (!isWhole) this.#followed.delete(at.providerSessionId)
    }
  }

  /**
   * Whether the transcript of a session that is not on record yet has a turn after so many. Absent where no transcript can
   * be read.
   */
  async hasTurn(
    { runtime, transcriptPath }: Pick<Candidate, 'runtime' | 'transcriptPath'>,
    { after, isAtRest }: { readonly after: number; readonly isAtRest: boolean },
  ): Promise<boolean | undefined> {
    const tail = transcriptPath && (await this.#deps.transcripts.follow(runtime, transcriptPath))
    if (!tail) return undefined
    const transcript = new TranscriptImport(tail, this.#deps.readers.transcripts(runtime), this.#deps)
    for await (const item of transcript.items({ isAtRest }))
      if (item.type === 'turn' && item.number > after) return true
    return false
  }

  /** How many turns and compactions are in the first records of a transcript. */
  async countIn(
    { runtime, transcriptPath }: Required<Pick<Candidate, 'runtime' | 'transcriptPath'>>,
    records: number,
  ): Promise<{ readonly turns: number; readonly boundaries: number }> {
    const tail = await this.#deps.transcripts.follow(runtime, transcriptPath)
    const found = { turns: 0, boundaries: 0 }
    if (tail === undefined) return found
    const first: TranscriptTail = { records: () => firstOf(tail.records(), records) }
    const transcript = new TranscriptImport(first, this.#deps.readers.transcripts(runtime), this.#deps)
    for await (const { type, number } of transcript.items({ isAtRest: true }))
      found[type === 'turn' ? 'turns' : 'boundaries'] = number
    return found
  }

  /** Whether everything there was could be recorded. */
  async #record(at: FollowedSession, items: AsyncIterable<TranscriptItem>): Promise<boolean> {
    for await (const item of items) {
      if (item.type === 'compaction') {
        if (item.number <= at.tracking.boundaries) continue
        await this.#compactions.tell(at, 'transcript', item.report)
        at.keep({ boundaries: item.number })
      } else if (item.number > at.tracking.turns && !(await this.#keep(at, item))) return false
    }
    return true
  }

  async #keep(at: FollowedSession, { number, turn }: Extract<TranscriptItem, { type: 'turn' }>): Promise<boolean> {
    const { handoffs, sha256, logger } = this.#deps
    await this.#sessions.workOn(at)
    const { holder } = at.tracking
    // Held by a handoff, it takes no turns; what comes now is recorded once that handoff has ended.
    if (holder === undefined || at.session.state !== 'active' || heldBy(at.session) !== undefined) return false
    const commandId = derivedCommand(sha256, at.key, 'turn', number)
    const { turn: attributed, prompts, unknown } = whoseWords(this.#deps, at, turn)
    const request = { session: at.session, holder, ...attributed, commandId }
    const recorded = await handoffs.recordTurn(at.monitor === undefined ? request : { ...request, monitor: at.monitor })
    // The id is made of the turn's number: a process that used it has recorded that turn, and maybe knew less of its end.
    const isOnRecord = !recorded.ok && recorded.error.code === 'command.id_reused'
    if (!recorded.ok && !isOnRecord) {
      const fields = { sessionId: at.session.id, turn: number, refusal: recorded.error.code }
      logger.warn(fields, 'a turn of a terminal session was not recorded')
      return false
    }
    if (recorded.ok) at.update(recorded.value)
    at.keep({ turns: number, prompts: prompts.length === 0 ? undefined : prompts })
    if (unknown > 0 && this.#saidUnknown.add(at.session.id))
      logger.info({ sessionId: at.session.id, turn: number }, UNKNOWN)
    return true
  }

  async #transcriptOf(at: FollowedSession, path: string): Promise<TranscriptImport | undefined> {
    const variables = JSON.stringify(at.tracking.variables ?? {})
    const followed = this.#followed.get(at.providerSessionId)
    if (followed?.path === path && followed.variables === variables) return followed.transcript
    const tail = await this.#deps.transcripts.follow(at.runtime, path)
    if (tail === undefined) {
      this.#deps.logger.debug({ sessionId: at.session.id }, 'no transcript where its runtime keeps them')
      return undefined
    }
    const transcript = new TranscriptImport(
      tail,
      this.#deps.readers.transcripts(at.runtime),
      this.#deps,
      at.tracking.variables,
    )
    this.#followed.set(at.providerSessionId, { path, variables, transcript })
    const [oldest] = this.#followed.keys()
    if (this.#followed.size > FOLLOWED && oldest !== undefined) this.#followed.delete(oldest)
    return transcript
  }
}

async function* firstOf(records: AsyncIterable<unknown>, most: number): AsyncGenerator<unknown, void> {
  let read = 0
  if (most === 0) return
  for await (const record of records) {
    yield record
    read += 1
    if (read === most) return
  }
}
