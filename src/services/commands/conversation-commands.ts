import * as budgets from '../../domain/conversation/change-conversation.ts'
import {
  closeConversation as decideClosing,
  setConversationMetadata as decideNote,
} from '../../domain/conversation/change-conversation.ts'
import * as decisions from '../../domain/conversation/open-conversation.ts'
import type { ConversationFacts, OpeningFacts } from '../../domain/facts.ts'
import { recordHooks as decideHooks } from '../../domain/hooks/hook-delivery.ts'
import { HOOK_MOMENTS } from '../../domain/hooks/hook-settings.ts'
import { listOf, oneOf, optional } from '../../domain/input/check.ts'
import { budgetChange, hookResult, restartBudget, workspace } from '../../domain/input/details.ts'
import { metadata } from '../../domain/input/metadata-check.ts'
import { id, name, text } from '../../domain/input/words.ts'
import { defined } from '../../domain/kernel/defined.ts'
import { conversationId } from '../../domain/kernel/ids.ts'
import { command, content } from './command.ts'
import { conversationIdOf, onConversation, repeatable } from './references.ts'
import type {
  AskRequest,
  BudgetRequest,
  ConversationMetadataRequest,
  HooksRequest,
  OnConversation,
  Repeatable,
} from './requests.ts'

export const openConversation = command<decisions.OpenConversation & Repeatable>()({
  name: 'open_conversation',
  fields: {
    ...repeatable,
    originalTask: content(text),
    externalKey: content(optional(name)),
    subject: content(optional(name)),
    parentId: content(optional(id)),
    workspace: content(optional(workspace)),
    restartBudget: content(optional(restartBudget)),
    metadata: content(optional(metadata)),
  },
  plan: (request, context) => {
    const at = context.clock.now()
    const { externalKey, parentId } = request
    const newId = conversationId(context.ids.next())
    return {
      question: { about: 'opening' as const, ...defined({ externalKey, parentId }) },
      // Nearly always the key is new, and the store says so if it is not. A parent has to be looked up.
      ...(parentId === undefined && { held: {} }),
      decide: (facts: OpeningFacts) =>
        decisions.openConversation(facts, defined({ restartBudget: context.restartBudget, ...request }), {
          id: newId,
          at,
        }),
    }
  },
})

/** Closes a conversation, or opens it again. */
const closing = (name: string, type: 'close' | 'reopen') =>
  command<OnConversation>()({
    name,
    fields: onConversation,
    plan: (request, { clock }) => {
      const conversationId = conversationIdOf(request)
      const at = clock.now()
      return {
        question: { about: 'conversation' as const, conversationId },
        decide: (facts: ConversationFacts) => decideClosing(facts, { conversationId, type }, at),
      }
    },
  })

export const closeConversation = closing('close_conversation', 'close')

export const reopenConversation = closing('reopen_conversation', 'reopen')

export const setConversationMetadata = command<ConversationMetadataRequest>()({
  name: 'set_conversation_metadata',
  fields: { ...onConversation, metadata: content(metadata) },
  plan: (request, { clock }) => {
    const wanted = { conversationId: conversationIdOf(request), metadata: request.metadata }
    const at = clock.now()
    return {
      question: { about: 'conversation' as const, conversationId: wanted.conversationId },
      decide: (facts: ConversationFacts) => decideNote(facts, wanted, at),
    }
  },
})

export const setBudget = command<BudgetRequest>()({
  name: 'set_budget',
  fields: { ...onConversation, budget: content(budgetChange) },
  plan: (request, { clock }) => {
    const wanted = { conversationId: conversationIdOf(request), budget: request.budget }
    const at = clock.now()
    return {
      question: { about: 'conversation' as const, conversationId: wanted.conversationId },
      decide: (facts: ConversationFacts) => budgets.setBudget(facts, wanted, at),
    }
  },
})

export const askConversation = command<AskRequest>()({
  name: 'ask_conversation',
  fields: { ...onConversation, prompt: content(text) },
  plan: (request, { clock }) => {
    const wanted = { conversationId: conversationIdOf(request), prompt: request.prompt }
    const at = clock.now()
    return {
      question: { about: 'conversation' as const, conversationId: wanted.conversationId, isBudgeted: true },
      decide: (facts: ConversationFacts) => budgets.askConversation(facts, wanted, at),
    }
  },
})

export const recordHooks = command<HooksRequest>()({
  name: 'record_hooks',
  fields: {
    ...repeatable,
    conversationId: content(id),
    sessionId: content(id),
    moment: content(oneOf(...HOOK_MOMENTS)),
    results: content(listOf(hookResult, { most: 10_000 })),
  },
  plan: (request, context) => {
    const at = context.clock.now()
    return {
      question: { about: 'conversation' as const, conversationId: request.conversationId },
      decide: (facts: ConversationFacts) => decideHooks(facts, request, at),
    }
  },
})
