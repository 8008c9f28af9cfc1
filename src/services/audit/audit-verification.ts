import { type AuditHead, chainStart, type SealedEntry } from '../../domain/audit/audit-chain.ts'
import {
  type AuditProblem,
  type AuditVerdict,
  type ChainContext,
  checkEntry,
  checkHead,
  movedTo,
  NOT_COVERED,
  verifiesAt,
} from '../../domain/audit/audit-verdict.ts'
import { defined } from '../../domain/kernel/defined.ts'
import type { ChainPage } from '../../ports/store/audit-log.ts'
import type { Cursor } from '../../ports/store/page.ts'
import type { Store } from '../../ports/store/store.ts'
import { StoreFailure } from '../../ports/store/store-failure.ts'
import { AuditComparison } from './audit-comparison.ts'

const PAGE = 500

/** A conversation that is worked on may have moved between two reads so often, and no oftener. */
const MAX_LOOKS = 50

/** How often a text may be erased between two reads before that is what is wrong. */
const MAX_PASSES = 3

/**
 * The verdict on a conversation; `undefined` when there is none. A text may be erased while its row and its entry are
 * read, one before and one after: a log that has grown meanwhile is then read once more.
 */
export const verifyStream = async (store: Store, context: ChainContext): Promise<AuditVerdict | undefined> => {
  for (let pass = 1; ; pass += 1) {
    const before = (await store.audit.readChain(context.conversation, { limit: 1 })).head?.position ?? 0
    const verdict = await new AuditVerification(store, context).run()
    const isAboutText = verdict?.intact === false && verdict.problem.class.startsWith('text_')
    if (!isAboutText || verdict.entries <= before || pass === MAX_PASSES) return verdict
  }
}

/** One pass over the audit log of one conversation. */
class AuditVerification {
  readonly #store: Store
  readonly #context: ChainContext
  readonly #comparison: AuditComparison
  #last: AuditHead
  #after: Cursor | undefined
  #differs: AuditProblem | undefined
  #isEmpty = true

  constructor(store: Store, context: ChainContext) {
    this.#store = store
    this.#context = context
    this.#comparison = new AuditComparison(store, context.conversation, context.sha256)
    this.#last = chainStart(context.conversation, context.sha256)
  }

  /** The verdict; `undefined` when there is no such conversation. A broken chain comes before rows that differ. */
  async run(): Promise<AuditVerdict | undefined> {
    for (let looks = 0; looks < MAX_LOOKS; looks += 1) {
      const broken = await this.#readOn()
      if (this.#isEmpty && (await this.#isUnknown())) return undefined
      const problem = broken ?? this.#differs
      if (problem !== undefined) return this.#verdict(problem)
      const differs = await readable(() => this.#comparison.end())
      if (differs === undefined || (await this.#page(1)).entries.length === 0) return this.#verdict(differs)
    }
    throw new StoreFailure(
      'store.contention',
      `Conversation ${this.#context.conversation} kept changing while it was verified. Try again.`,
    )
  }

  #verdict(problem: AuditProblem | undefined): AuditVerdict {
    const { setBack, uncheckedReceipts } = this.#comparison
    const about = {
      conversationId: this.#context.conversation,
      entries: this.#last.position,
      texts: this.#comparison.texts,
      ...(setBack && { setBack }),
      ...(uncheckedReceipts > 0 && { uncheckedReceipts }),
      notCovered: NOT_COVERED,
    }
    return problem === undefined ? { ...about, intact: true } : { ...about, intact: false, problem }
  }

  /** Reads to the end of the stream as it is now. */
  async #readOn(): Promise<AuditProblem | undefined> {
    for (;;) {
      const page = await this.#page(PAGE)
      if (page.entries.length > 0 || page.head !== undefined) this.#isEmpty = false
      for (const [index, entry] of page.entries.entries()) {
        const problem = checkEntry(this.#last, entry, page.head, this.#context)
        if (problem !== undefined) return this.#asMoved(problem, page, index)
        this.#last = { position: entry.position, hash: entry.hash }
        this.#differs ??= await readable(() => this.#comparison.take(entry))
      }
      await this.#comparison.look()
      this.#after = page.next
      if (page.entries.length < PAGE) return checkHead(this.#last, page.head)
    }
  }

  /** An entry that is missing here may stand somewhere behind. */
  async #asMoved(problem: AuditProblem, page: ChainPage, index: number): Promise<AuditProblem> {
    const { position: due } = problem
    if (problem.class !== 'missing' || due === undefined) return problem
    const isIt = (entry: SealedEntry): boolean => verifiesAt(entry, due, this.#context)
    for (let rest = page, from = index; rest.entries.length > 0; rest = await this.#page(PAGE), from = 0) {
      const found = rest.entries.slice(from).find(isIt)
      if (found !== undefined) return movedTo(due, found)
      this.#after = rest.next
    }
    return problem
  }

  #page(limit: number): Promise<ChainPage> {
    return this.#store.audit.readChain(this.#context.conversation, defined({ after: this.#after, limit }))
  }

  async #isUnknown(): Promise<boolean> {
    return (await this.#store.conversations.find(this.#context.conversation)) === undefined
  }
}

/** A row that cannot even be read is not what the entries add up to. */
const readable = async (check: () => Promise<AuditProblem | undefined>): Promise<AuditProblem | undefined> => {
  try {
    return await check()
  } catch (cause) {
    if (!(cause instanceof StoreFailure) || cause.code !== 'store.integrity') throw cause
    return { class: 'state_differs', detail: cause.message }
  }
}
