import type { Conversation } from '../../domain/conversation/conversation.ts'
import type { HandoffMetadata } from '../../domain/handoff/handoff.ts'
import { defined } from '../../domain/kernel/defined.ts'
import { inQuotes } from '../../domain/kernel/safe-text.ts'
import type { GivenBack } from '../../ports/terminal/wire.ts'
import { type CarriedDocument, carried, recordedWords } from './carried-text.ts'
import { conversationLine } from './conversation-line.ts'
import type { FollowedSession } from './followed-session.ts'
import type { TerminalDeps } from './terminal-deps.ts'

const REMEMBERED = 256
/** So many handoffs are looked through for the last one before a branch. */
const MOST_AFTER = 20

const OPENING =
  'The context window of this session was compacted, and what was in it is gone but for a summary. This is from the ' +
  'record of the session, word for word.'

const DOCUMENT = { whole: 'the handoff document', beginning: 'the beginning of the handoff document' } as const

/** A sentence for the person about the text that the agent got back: `7 of your messages were given back.` */
const givenBackNotice = (messages: number, document?: keyof typeof DOCUMENT): string => {
  const parts = [
    ...(messages === 0 ? [] : [`${messages} of your messages`]),
    ...(document === undefined ? [] : [DOCUMENT[document]]),
  ]
  if (parts.length === 0) return 'None of your messages had room to be given back.'
  const sentence = `${parts.join(' and ')} ${messages + parts.length > 2 ? 'were' : 'was'} given back.`
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}`
}

/**
 * The text that a session gets back after a compaction: the last document of its conversation, and the person's words. It
 * is made before, because a compaction is over in the time that a service takes to start.
 */
export class AfterCompaction {
  readonly #deps: TerminalDeps
  readonly #texts = new Map<string, GivenBack | undefined>()

  constructor(deps: TerminalDeps) {
    this.#deps = deps
  }

  /** The text as it was made last. */
  async textFor(at: FollowedSession): Promise<GivenBack | undefined> {
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

  /** Nothing for a session that another process works, such as a runner: that one gives its agent back what it needs. */
  async #textOf(at: FollowedSession): Promise<GivenBack | undefined> {
    const { session, tracking } = at
    const conversation = await this.#deps.store.conversations.find(session.conversationId)
    if (tracking.holder === undefined || conversation === undefined) return undefined
    const document = await this.#documentOf(at, conversation)
    const words = await recordedWords(this.#deps, conversation, { session, document: document?.text })
    const given = carried(defined({ opening: OPENING, document, words, nonce: this.#deps.ids.next() }))
    if (given === undefined) return undefined
    const messages = words.chosen.shown.filter(({ text }) => text !== '').length
    const part = document && (given.isWhole ? 'whole' : 'beginning')
    return { text: given.text, notice: givenBackNotice(messages, part) }
  }

  async #documentOf({ tracking }: FollowedSession, conversation: Conversation): Promise<CarriedDocument | undefined> {
    const { pending, lastHandoffPath: path } = tracking
    const waiting = pending && (await this.#deps.pending.readPending(pending.workspace))
    if (waiting !== undefined && waiting.id === pending?.id) {
      const origin = `You wrote the document below at ${waiting.writtenAt}, for the session after this one.`
      return { text: waiting.document, origin, path: waiting.path }
    }
    const last = await this.#lastHandoff(conversation)
    if (last?.document === undefined) return undefined
    const origin = `The document below came with the last handoff of this conversation (handoff ${last.id}, agent ${inQuotes(last.sourceAgent)}, ${last.initiatedAt}).`
    return defined({ text: last.document, origin, path })
  }

  /** The last handoff of a conversation; of a branch without one, the last before it branched off. */
  async #lastHandoff(conversation: Conversation): Promise<HandoffMetadata | undefined> {
    for await (const { conversation: each, until } of conversationLine(
      this.#deps.store,
      conversation,
      this.#deps.agents,
    )) {
      const filter = { conversationId: each.id, order: 'newest_first' as const }
      const { items } = await this.#deps.store.handoffs.list(filter, { limit: until === undefined ? 1 : MOST_AFTER })
      const last = items.find(({ initiatedAt }) => until === undefined || initiatedAt <= until)
      if (last !== undefined) return last
    }
    return undefined
  }
}
