import type { ConversationId } from '../../../domain/kernel/ids.ts'
import type { ThreadDraft } from '../../../domain/thread/thread-draft.ts'
import type { Batonpass } from '../../../main/batonpass.ts'
import { homeStore } from '../../place/home-folder.ts'
import { type KeptDraft, KeptDrafts } from '../choose/kept-drafts.ts'
import { asksForSummary } from '../choose/thread-choices.ts'
import type { Invocation } from '../tree/command.ts'
import { EXIT } from '../tree/exit-codes.ts'
import { CommandNotCompleted } from '../tree/problems.ts'

/** The draft that a person was shown, between the command that shows it and the one that applies it. */
export class ShownDraft {
  readonly #invocation: Invocation
  readonly #batonpass: Pick<Batonpass, 'history'>
  readonly #of: ConversationId
  readonly #drafts: KeptDrafts

  constructor(invocation: Invocation, batonpass: Pick<Batonpass, 'history'>, of: ConversationId) {
    this.#invocation = invocation
    this.#batonpass = batonpass
    this.#of = of
    this.#drafts = new KeptDrafts(homeStore(invocation.environment))
  }

  /** Keeps a draft that is shown now. @returns why it could not be kept, where that is so */
  async keep({ id, summary, budgetTokens, refinements, isEdited, source }: ThreadDraft): Promise<string | undefined> {
    const { sessionId } = source
    const turns = await this.#turnsOf(sessionId)
    const kept = { id, summary, budgetTokens, refinements, isEdited, source: { sessionId }, turns }
    return this.#drafts.keep(this.#of, kept)
  }

  /** The draft whose words are to be written; absent where none was shown, or where the flags ask for another. */
  toApply(): KeptDraft | undefined {
    const kept = asksForSummary(this.#invocation) ? undefined : this.#drafts.find(this.#of)
    if (kept === undefined && this.#invocation.values['as-shown'] === true)
      throw new CommandNotCompleted(
        `No summary of this conversation was shown in the last day. ${this.#anew}`,
        EXIT.refused,
      )
    return kept
  }

  /** A draft of now with the words that were shown. @throws CommandNotCompleted when the conversation has more turns since */
  async inPlaceOf(draft: ThreadDraft, kept: KeptDraft): Promise<ThreadDraft> {
    const { source, turns, ...words } = kept
    const { sessionId } = draft.source
    const isSame = sessionId === source.sessionId && turns === (await this.#turnsOf(sessionId))
    if (!isSame && this.#invocation.values['as-shown'] !== true)
      throw new CommandNotCompleted(
        `The conversation has more turns than when its summary was shown, so nothing was written. ${this.#anew} ` +
          `"baton thread handoff --apply --as-shown --from ${this.#of}" takes the words that were shown.`,
        EXIT.refused,
      )
    return { ...draft, ...words }
  }

  /** Once the thread is open. */
  forget(): void {
    this.#drafts.forget(this.#of)
  }

  get #anew(): string {
    return `"baton thread handoff --preview --from ${this.#of}" shows it anew.`
  }

  async #turnsOf(session: ThreadDraft['source']['sessionId']): Promise<number> {
    return (await this.#batonpass.history.session(session))?.progress.turns ?? 0
  }
}
