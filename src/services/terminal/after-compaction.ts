import { defined } from '../../domain/kernel/defined.ts'
import { inQuotes } from '../../domain/kernel/safe-text.ts'
import { type CarriedDocument, carriedText, personWordsOf } from './carried-text.ts'
import type { FollowedSession } from './followed-session.ts'
import type { TerminalDeps } from './terminal-deps.ts'

const REMEMBERED = 256

const OPENING =
  'The context window of this session was compacted, and what was in it is gone but for a summary. This is from the ' +
  'record of the session, word for word.'

/**
 * The text that a session gets back after a compaction: the last document of its conversation, and the person's words. It
 * is made before, because a compaction is over in the time that a service takes to start.
 */
export class AfterCompaction {
  readonly #deps: TerminalDeps
  readonly #texts = new Map<string, string | undefined>()

  constructor(deps: TerminalDeps) {
    this.#deps = deps
  }

  /** The text as it was made last. */
  async textFor(at: FollowedSession): Promise<string | undefined> {
    if (!this.#texts.has(at.providerSessionId)) await this.refresh(at)
    return this.#texts.get(at.providerSessionId)
  }

  /** Makes it anew, from what is on record now. */
  async refresh(at: FollowedSession): Promise<void> {
    const text = await this.#textOf(at)
    this.#texts.delete(at.providerSessionId)
    this.#texts.set(at.providerSessionId, text)
    const [oldest] = this.#texts.keys()
    if (this.#texts.size > REMEMBERED && oldest !== undefined) this.#texts.delete(oldest)
  }

  /** Whoever works a session otherwise, such as a runner, gives its agent back what it needs. */
  async #textOf(at: FollowedSession): Promise<string | undefined> {
    const { session, kept } = at
    const conversation = await this.#deps.store.conversations.find(session.conversationId)
    if (kept.holder === undefined || conversation === undefined) return undefined
    const document = await this.#documentOf(at)
    const words = await personWordsOf(this.#deps, conversation, { session, document: document?.text })
    return carriedText(defined({ opening: OPENING, document, words, nonce: this.#deps.ids.next() }))
  }

  async #documentOf({ session, kept }: FollowedSession): Promise<CarriedDocument | undefined> {
    const { pending, lastHandoffPath: path } = kept
    const waiting = pending && (await this.#deps.pending.readPending(pending.workspace))
    if (waiting !== undefined && waiting.id === pending?.id) {
      const origin = `You wrote the document below at ${waiting.writtenAt}, for the session after this one.`
      return { text: waiting.document, origin, path: waiting.path }
    }
    const filter = { conversationId: session.conversationId, order: 'newest_first' as const }
    const [last] = (await this.#deps.store.handoffs.list(filter, { limit: 1 })).items
    if (last?.document === undefined) return undefined
    const origin = `The document below came with the last handoff of this conversation (handoff ${last.id}, agent ${inQuotes(last.sourceAgent)}, ${last.initiatedAt}).`
    return defined({ text: last.document, origin, path })
  }
}
