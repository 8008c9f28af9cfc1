import { z } from 'zod'
import type { Conversation } from '../../../domain/conversation/conversation.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import { brokenIn, orBroken, readOr } from './broken-part.ts'
import { aConversation, maybe, note, place, reader, time } from './row-types.ts'

const budget = z.strictObject({
  maxRestarts: z.number(),
  deadlineMs: z.number().exactOptional(),
  maxCostUsd: z.number().exactOptional(),
  maxTakeovers: z.number().exactOptional(),
  whenExhausted: z.enum(['stop', 'carry_on']),
})

const askedRow = z.strictObject({
  mark: z.number(),
  prompt: z.string(),
  sequence: place,
  restarts: z.number(),
  takeovers: z.number(),
  first: z.strictObject({ prompt: z.string() }).exactOptional(),
})

/** A budget that cannot be read allows nothing. */
const NO_RESTART = { maxRestarts: 0, whenExhausted: 'stop' } as const

const row = z.object({
  id: aConversation,
  external_key: maybe(z.string()),
  subject: maybe(z.string()),
  original_task: z.string(),
  parent_id: maybe(aConversation),
  working_directory: maybe(z.string()),
  worktree_path: maybe(z.string()),
  branch: maybe(z.string()),
  base_branch: maybe(z.string()),
  restart_budget: orBroken(budget),
  asked: orBroken(maybe(askedRow)),
  opened_at: time,
  closed_at: maybe(time),
  metadata: maybe(note),
})

export const toConversation = reader(
  'conversation',
  row.transform((stored): Conversation => {
    const { working_directory: workingDirectory, worktree_path: worktreePath, branch, base_branch: baseBranch } = stored
    const workspace = defined({ workingDirectory, worktreePath, branch, baseBranch })
    return defined({
      id: stored.id,
      externalKey: stored.external_key,
      subject: stored.subject,
      originalTask: stored.original_task,
      parentId: stored.parent_id,
      workspace: Object.keys(workspace).length === 0 ? undefined : workspace,
      restartBudget: readOr(stored.restart_budget, NO_RESTART),
      asked: readOr(stored.asked, undefined),
      openedAt: stored.opened_at,
      closedAt: stored.closed_at,
      metadata: stored.metadata,
      broken: brokenIn({ restartBudget: stored.restart_budget, asked: stored.asked }),
    })
  }),
)

export const fromConversation = (conversation: Conversation) => ({
  id: conversation.id,
  external_key: conversation.externalKey,
  subject: conversation.subject,
  original_task: conversation.originalTask,
  parent_id: conversation.parentId,
  working_directory: conversation.workspace?.workingDirectory,
  worktree_path: conversation.workspace?.worktreePath,
  branch: conversation.workspace?.branch,
  base_branch: conversation.workspace?.baseBranch,
  restart_budget: conversation.restartBudget,
  asked: conversation.asked,
  opened_at: conversation.openedAt,
  closed_at: conversation.closedAt,
  metadata: conversation.metadata,
})
