import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { ConversationId } from '../../../domain/kernel/ids.ts'
import type { ThreadDraft } from '../../../domain/thread/thread-draft.ts'
import type { Batonpass } from '../../../main/batonpass.ts'
import { codeOf, ownFolder, readOwnFile } from '../../files/own-files.ts'
import { writeWhole } from '../../files/whole-file.ts'
import { homeStore } from '../../place/home-folder.ts'
import { CommandNotCompleted } from '../invocation/command-problems.ts'
import { EXIT } from '../invocation/exit-codes.ts'
import type { Invocation } from '../invocation/invocation.ts'
import { asksForSummary } from './thread-choices.ts'

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
    const shown = { id, summary, budgetTokens, refinements, isEdited, source: { sessionId }, turns }
    return this.#drafts.keep(this.#of, shown)
  }

  /** The draft whose words are to be written; absent where none was shown, or where the flags ask for another. */
  toApply(): KeptDraft | undefined {
    const stored = asksForSummary(this.#invocation) ? undefined : this.#drafts.find(this.#of)
    if (stored === undefined && this.#invocation.values['as-shown'] === true)
      throw new CommandNotCompleted(
        `No summary of this conversation was shown in the last day. ${this.#anew}`,
        EXIT.refused,
      )
    return stored
  }

  /** A draft of now with the words that were shown. @throws CommandNotCompleted when the conversation has more turns since */
  async inPlaceOf(draft: ThreadDraft, stored: KeptDraft): Promise<ThreadDraft> {
    const { source, turns, ...words } = stored
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

/** The words that a person was shown, so that exactly these are written when the person says so. */
export interface KeptDraft extends Pick<ThreadDraft, 'id' | 'summary' | 'budgetTokens' | 'refinements' | 'isEdited'> {
  readonly source: Pick<ThreadDraft['source'], 'sessionId'>
  /** The turns of that session when the draft was shown. */
  readonly turns: number
}

/** A summary waits for its thread no longer than a day, and its words for their approval no longer either. */
const MOST_MS = 24 * 3_600_000

const MOST_BYTES = 1_000_000

/** Drafts that a person was shown: one for each conversation, in a private folder. */
class KeptDrafts {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = join(folder, 'drafts')
  }

  /** @returns why it could not be kept, where that is so */
  keep(of: ConversationId, draft: KeptDraft): string | undefined {
    try {
      ownFolder(this.#folder)
      this.#forgetOld()
      writeWhole(join(this.#folder, fileOf(of)), JSON.stringify(draft))
      return undefined
    } catch (problem) {
      return codeOf(problem)
    }
  }

  /** The draft that was shown last; absent where there is none, or none that can be read. */
  find(of: ConversationId): KeptDraft | undefined {
    const path = join(this.#folder, fileOf(of))
    try {
      if (isOld(path)) return undefined
      const content: unknown = JSON.parse(readOwnFile(path, MOST_BYTES) ?? 'null')
      return isKept(content) ? content : undefined
    } catch {
      return undefined
    }
  }

  forget(of: ConversationId): void {
    rmSync(join(this.#folder, fileOf(of)), { force: true })
  }

  #forgetOld(): void {
    for (const name of readdirSync(this.#folder)) {
      const path = join(this.#folder, name)
      if (isOld(path)) rmSync(path, { force: true })
    }
  }
}

const fileOf = (of: ConversationId): string => `${of}.json`

const isOld = (path: string): boolean => {
  const found = statSync(path, { throwIfNoEntry: false })
  return found !== undefined && Date.now() - found.mtimeMs > MOST_MS
}

const isKept = (content: unknown): content is KeptDraft => {
  const { id, turns, source, summary } = (content ?? {}) as Partial<KeptDraft>
  const texts = [id, source?.sessionId, summary?.text, summary?.plainText, summary?.modelUsed]
  return typeof turns === 'number' && texts.every((text) => typeof text === 'string')
}
