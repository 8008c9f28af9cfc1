import type { AgentSessionId, ConversationId } from '../kernel/ids.ts'
import type { Instant } from '../kernel/instant.ts'
import { err, ok, type Result } from '../kernel/result.ts'
import type { Refusal } from '../refusal.ts'
import type { ThreadSummary } from '../summary/thread-summary.ts'

/** The most refinements of one draft. */
const MOST_REFINEMENTS = 3

/** The place of a summary: a file of a workspace. */
export interface ThreadPlace {
  readonly workspace: string
  /** The name of the file in the workspace. */
  readonly file: string
}

/** A thread that is proposed, and not opened: nothing is written until it is accepted. Plain data, so that it can be kept. */
export interface ThreadDraft {
  /** The same through every refinement and edit; accepting it twice opens one thread. */
  readonly id: string
  readonly createdAt: Instant
  readonly source: {
    readonly conversationId: ConversationId
    readonly sessionId: AgentSessionId
    readonly agentName: string
    readonly backend: string
    readonly task: string
  }
  readonly summary: ThreadSummary
  readonly budgetTokens: number
  readonly refinements: number
  readonly isEdited: boolean
  readonly target: ThreadPlace & {
    /** Whether git keeps the file, so that the summary may end in a commit. */
    readonly isTracked: boolean
    /** A file that the same agent reads and git leaves alone, where the target is tracked and there is one. */
    readonly untracked?: string
  }
  /** Sentences that a person should read before accepting. */
  readonly warnings: readonly string[]
}

/** Whether a draft may be refined once more. */
export const mayRefine = ({ id, refinements }: ThreadDraft): Result<true, Refusal> =>
  refinements < MOST_REFINEMENTS
    ? ok(true)
    : err({ code: 'thread.refinements_spent', draftId: id, most: MOST_REFINEMENTS })

/** The draft with another summary of the same conversation. Its id and its time stay. */
export const refined = (draft: ThreadDraft, summary: ThreadSummary): ThreadDraft => ({
  ...draft,
  summary,
  refinements: draft.refinements + 1,
  isEdited: false,
})

/** The draft with the person's own text, which is kept as it is. */
export const edited = (draft: ThreadDraft, summary: ThreadSummary): Result<ThreadDraft, Refusal> =>
  summary.text.trim() === ''
    ? err({ code: 'thread.summary_empty', draftId: draft.id })
    : ok({ ...draft, summary, isEdited: true })

/** The key of a thread whose person gave none. */
export const threadKeyOf = ({ id }: Pick<ThreadDraft, 'id'>): string => `thread:${id}`
