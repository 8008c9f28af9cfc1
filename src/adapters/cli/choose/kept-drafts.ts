import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { ConversationId } from '../../../domain/kernel/ids.ts'
import type { ThreadDraft } from '../../../domain/thread/thread-draft.ts'
import { codeOf, ownFolder, readOwnFile } from '../../files/own-files.ts'
import { writeWhole } from '../../files/whole-file.ts'

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
export class KeptDrafts {
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
      const kept: unknown = JSON.parse(readOwnFile(path, MOST_BYTES) ?? 'null')
      return isKept(kept) ? kept : undefined
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

const isKept = (kept: unknown): kept is KeptDraft => {
  const { id, turns, source, summary } = (kept ?? {}) as Partial<KeptDraft>
  const texts = [id, source?.sessionId, summary?.text, summary?.plainText, summary?.modelUsed]
  return typeof turns === 'number' && texts.every((text) => typeof text === 'string')
}
