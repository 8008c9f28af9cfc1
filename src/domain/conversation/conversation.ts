import type { AskedPrompt, RestartBudget } from '../budget/restart-budget.ts'
import type { ConversationId } from '../kernel/ids.ts'
import type { Instant } from '../kernel/instant.ts'
import type { Metadata } from '../kernel/metadata.ts'
import type { TransitionTable } from '../kernel/state-machine.ts'

/** The place of a conversation's work on disk; the same for every session in it. */
export interface Workspace {
  readonly workingDirectory?: string
  readonly worktreePath?: string
  readonly branch?: string
  /** The branch that this one began at, and is meant to go back to. */
  readonly baseBranch?: string
}

/** One long piece of work: a job, a thread, an issue. It outlives many windows. */
export interface Conversation<Note extends Metadata = Metadata> {
  readonly id: ConversationId
  /** The orchestrator's own id for the work; opening it again finds the same conversation. */
  readonly externalKey?: string
  /** Whose data this is. Opaque to Batonpass. */
  readonly subject?: string
  /** The first prompt. {@link taskOf} gives the current task. */
  readonly originalTask: string
  readonly parentId?: ConversationId
  readonly workspace?: Workspace
  readonly restartBudget: RestartBudget
  /** Parts that the store could not read; a budget that is among them allows no restart until it is set anew. */
  readonly broken?: readonly ('restartBudget' | 'asked')[]
  /** The latest new prompt after the original task; absent while there is none. */
  readonly asked?: AskedPrompt
  readonly openedAt: Instant
  /** Since when no session may start in it; absent while it is open. */
  readonly closedAt?: Instant
  /** The caller's own note. */
  readonly metadata?: Note
}

/**
 * The current task of a conversation: its latest new prompt. Requests before it are history.
 *
 * @example
 * ```ts
 * await using batonpass = await createBatonpass({ store: 'memory' })
 * const { handoffs } = batonpass
 * const { conversation } = unwrap(await handoffs.openConversation({ originalTask: 'Fix the flaky test' }))
 * const asked = unwrap(await handoffs.askConversation({ conversation, prompt: 'Now write the docs' }))
 * console.log(taskOf(conversation), '->', taskOf(asked.conversation)) // => Fix the flaky test -> Now write the docs
 * ```
 */
export const taskOf = (conversation: Pick<Conversation, 'asked' | 'originalTask'>): string =>
  conversation.asked?.prompt ?? conversation.originalTask

/** The task of the moment, and from which message on it was asked. */
export const askedTask = (
  conversation: Pick<Conversation, 'asked' | 'originalTask'>,
): { readonly task: string; readonly sequence: number } => ({
  task: taskOf(conversation),
  sequence: conversation.asked?.sequence ?? 0,
})

/**
 * The life of a conversation. It is closed when the work is done for good, and may be opened again.
 *
 * @example
 * ```ts
 * console.log(CONVERSATION_TRANSITIONS.closed.reopen) // => open
 * ```
 */
export const CONVERSATION_TRANSITIONS = {
  open: { close: 'closed' },
  closed: { reopen: 'open' },
} as const satisfies TransitionTable<string, 'close' | 'reopen'>

/** Whether a conversation takes sessions. */
export type ConversationState = keyof typeof CONVERSATION_TRANSITIONS

/** Whether a conversation takes sessions. */
export const conversationState = ({ closedAt }: Conversation): ConversationState =>
  closedAt === undefined ? 'open' : 'closed'
