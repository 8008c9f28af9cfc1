import type { RestartBudget } from '../budget/restart-budget.ts'
import { CHECKPOINT_OUTCOMES, type CheckpointFacts } from '../checkpoint/checkpoint-facts.ts'
import { CHECKPOINT_SECTIONS } from '../checkpoint/checkpoint-section.ts'
import type { Workspace } from '../conversation/conversation.ts'
import { HANDOFF_FLAGS, type HandoffFlag, MAX_CLAIM_MS, type TraceContext } from '../handoff/handoff.ts'
import { HOOK_FAILURE_CODES, type HookError, type HookResult } from '../hooks/hook-result.ts'
import { HOOK_TYPES } from '../hooks/hook-settings.ts'
import type { ProcessIdentity } from '../session/process-identity.ts'
import {
  amount,
  type Check,
  listOf,
  noteProblem,
  objectOf,
  oneOf,
  optional,
  trueOrFalse,
  wholeNumber,
} from './check.ts'
import { dollars, totals } from './readings.ts'
import { messageText, name, text } from './words.ts'

const DAY_MS = 86_400_000
const count = wholeNumber(0)

/** How long a holder may be silent: up to one day. */
export const leaseMs = wholeNumber(1, DAY_MS)

const leader = objectOf<NonNullable<ProcessIdentity['leader']>>({ pid: wholeNumber(1), startTime: name })

/** Where a process runs. */
export const processIdentity = objectOf<ProcessIdentity>({
  host: name,
  bootId: name,
  pidNamespace: name,
  userId: count,
  mark: name,
  leader: optional(leader),
})

/** How long a claim lasts. */
export const claimMs = wholeNumber(1, MAX_CLAIM_MS)

/** Where work lies on disk. */
export const workspace = objectOf<Workspace>({
  workingDirectory: optional(text),
  worktreePath: optional(text),
  branch: optional(text),
  baseBranch: optional(text),
})

const whenExhausted = oneOf('stop', 'carry_on')

const limits = {
  // A century is as good as for ever, and stays within the calendar.
  deadlineMs: optional(amount(0, 36_525 * DAY_MS)),
  maxCostUsd: optional(dollars),
  maxTakeovers: optional(count),
}

/** How often and how long a conversation may be restarted. */
export const restartBudget = objectOf<RestartBudget>({ maxRestarts: count, ...limits, whenExhausted })

/** The parts of a budget that are to be others. */
export const budgetChange = objectOf<Partial<RestartBudget>>({
  maxRestarts: optional(count),
  ...limits,
  whenExhausted: optional(whenExhausted),
})

/** W3C trace context. */
export const traceContext = objectOf<TraceContext>({ traceparent: name, tracestate: optional(text) })

/** Remarks about a thread. */
export const threadFlags = listOf(oneOf(...HANDOFF_FLAGS), { most: 100 })

/** Remarks about a handoff that is no thread. */
export const flags: Check<readonly HandoffFlag[]> = (value, field, problems) => {
  const before = problems.length
  const read = threadFlags(value, field, problems)
  return problems.length === before && read.includes('delegated')
    ? noteProblem('only a thread is delegated', field, problems)
    : read
}

/** The facts about a checkpoint beside its text. */
export const checkpointFacts = objectOf<CheckpointFacts>({
  outcome: oneOf(...CHECKPOINT_OUTCOMES),
  reason: optional(messageText),
  characters: optional(count),
  isCut: optional(trueOrFalse),
  sections: optional(listOf(oneOf(...CHECKPOINT_SECTIONS), { most: 100 })),
  statements: optional(
    objectOf<NonNullable<CheckpointFacts['statements']>>({
      cited: count,
      uncited: count,
      miscited: count,
      exempt: count,
    }),
  ),
  attempts: optional(count),
  totals: optional(totals),
})

type AnyResult = Omit<HookResult, 'ok'> & { readonly ok: boolean; readonly error?: HookError }

const anyResult = objectOf<AnyResult>({
  name,
  type: oneOf(...HOOK_TYPES),
  ok: trueOrFalse,
  durationMs: amount(0, Number.MAX_SAFE_INTEGER),
  output: messageText,
  errorOutput: optional(messageText),
  exitCode: optional(wholeNumber(-2_147_483_648, 2_147_483_647)),
  httpStatus: optional(wholeNumber(0, 999)),
  error: optional(objectOf<HookError>({ code: oneOf(...HOOK_FAILURE_CODES), message: messageText })),
})

/** How one hook went. One that failed says why. */
export const hookResult: Check<HookResult> = (value, field, problems) => {
  const read = anyResult(value, field, problems)
  if (read?.ok === false && read.error === undefined)
    return noteProblem('it failed and does not say why', field, problems)
  return read as HookResult
}
