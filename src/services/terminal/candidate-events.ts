import { begunWithDocument } from '../../domain/handoff/document-notice.ts'
import { defined } from '../../domain/kernel/defined.ts'
import { afterEnd } from '../../domain/terminal/candidate.ts'
import type { Candidate } from '../../ports/terminal/pending-files.ts'
import type { CandidateSuccession, SuccessionParts } from './candidate-succession.ts'
import type { HookAnswer, TerminalHookEvent } from './hook-event.ts'

const TAKEN: HookAnswer = { outcome: 'ok', signals: [] }

/** The parts that take the events of candidates. */
export interface CandidateParts extends SuccessionParts {
  readonly succession: CandidateSuccession
}

/** Takes the events of sessions that have begun with a pending document, until their first turn. */
export class CandidateEvents {
  readonly #parts: CandidateParts

  constructor(parts: CandidateParts) {
    this.#parts = parts
  }

  /** The answer while a session is a candidate. Absent where it is none, or from this event on no longer. */
  async take(event: TerminalHookEvent): Promise<HookAnswer | undefined> {
    const { candidates, succession } = this.#parts
    const found = await candidates.about(event)
    if (found === undefined) return undefined
    const candidate = await this.#updated(found, event)
    if (await this.#isAtWork(candidate, event)) {
      const at = await succession.settle(candidate)
      return at === undefined ? { outcome: 'not_registered', signals: [] } : undefined
    }
    return this.#hear(candidate, event)
  }

  /** Makes a session of a candidate whose person has asked it something. */
  async settle(providerSessionId: string): Promise<void> {
    const candidate = await this.#parts.candidates.find(providerSessionId)
    if (candidate !== undefined && candidate.prompts.length > 0) await this.#parts.succession.settle(candidate)
  }

  async #updated(candidate: Candidate, { input: { transcriptPath }, event }: TerminalHookEvent): Promise<Candidate> {
    const hasEnded = event !== 'session-start' && candidate.hasEnded
    const isSame = transcriptPath === undefined || transcriptPath === candidate.transcriptPath
    if (isSame && hasEnded === candidate.hasEnded) return candidate
    const changed = defined({ ...candidate, transcriptPath: transcriptPath ?? candidate.transcriptPath, hasEnded })
    await this.#parts.candidates.change(changed)
    return changed
  }

  /** Whether its first turn is there. Where no transcript can be read, a stop is the sign of it. */
  async #isAtWork(candidate: Candidate, { event, input }: TerminalHookEvent): Promise<boolean> {
    if (event === 'pre-compact' || event === 'post-compact') return true
    if (event === 'session-start') return input.source === 'compact'
    if (event === 'statusline' || event === 'ack') return false
    const after = (await this.#parts.sessions.trackingOf(candidate.providerSessionId))?.turns ?? 0
    const found = await this.#parts.turns.hasTurn(candidate, { after, isAtRest: event !== 'post-tool-use' })
    return found ?? event === 'stop'
  }

  async #hear(candidate: Candidate, event: TerminalHookEvent): Promise<HookAnswer> {
    const { candidates } = this.#parts
    switch (event.event) {
      case 'session-start': {
        const document = event.input.source === 'resume' ? undefined : await candidates.documentOf(candidate)
        return defined({ ...TAKEN, inject: document?.text, notice: document && begunWithDocument(document) })
      }
      case 'user-prompt-submit':
        await candidates.addPrompt(candidate, event)
        return TAKEN
      case 'session-end': {
        const ended = afterEnd(candidate)
        await (ended === undefined ? candidates.forget(candidate) : candidates.change(ended))
        return TAKEN
      }
      case 'statusline':
        return { outcome: 'not_registered', signals: [] }
      default:
        return TAKEN
    }
  }
}
