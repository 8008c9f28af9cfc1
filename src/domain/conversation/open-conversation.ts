import { DEFAULT_RESTART_BUDGET, type RestartBudget } from '../budget/restart-budget.ts'
import { type Decided, type DecisionDraft, newDraft } from '../decision.ts'
import type { OpeningFacts } from '../facts.ts'
import { defined } from '../kernel/defined.ts'
import type { ConversationId } from '../kernel/ids.ts'
import type { Instant } from '../kernel/instant.ts'
import type { Metadata } from '../kernel/metadata.ts'
import { noteOf } from '../kernel/metadata.ts'
import { err } from '../kernel/result.ts'
import type { Conversation, Workspace } from './conversation.ts'
import { CONVERSATION } from './conversation-aggregate.ts'

/** A request to open a conversation. */
export interface OpenConversation {
  readonly originalTask: string
  readonly externalKey?: string
  readonly subject?: string
  readonly parentId?: ConversationId
  readonly workspace?: Workspace
  readonly restartBudget?: RestartBudget
  /** The caller's own note. */
  readonly metadata?: Metadata
}

/** Opens a conversation, unless the key already names one: then that one is the answer and nothing is written. */
export const openConversation = (
  facts: OpeningFacts,
  request: OpenConversation,
  around: { readonly id: ConversationId; readonly at: Instant },
): Decided<{ readonly conversation: Conversation }> => {
  const draft = newDraft()
  if (facts.existing !== undefined) return draft.finish({ conversation: facts.existing })
  const { parentId } = request
  if (parentId !== undefined && facts.parent === undefined)
    return err({ code: 'conversation.not_found', conversationId: parentId })
  return draft.finish({ conversation: newConversation(draft, request, around) })
}

/** Begins a conversation. */
export const newConversation = (
  draft: DecisionDraft,
  request: OpenConversation,
  { id, at }: { readonly id: ConversationId; readonly at: Instant },
): Conversation => {
  const { originalTask, externalKey, subject, parentId, workspace, restartBudget = DEFAULT_RESTART_BUDGET } = request
  const isPlaced = Object.keys(workspace ?? {}).length > 0
  const place = { workspace: isPlaced ? workspace : undefined, restartBudget }
  const details = defined({ externalKey, subject, originalTask, parentId, ...place, ...noteOf(request.metadata) })
  const conversation: Conversation = { id, ...details, openedAt: at }
  return draft.begin(CONVERSATION, { type: 'conversation.opened', version: 1, conversationId: id, at, conversation })
}
