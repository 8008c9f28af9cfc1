import { onOneLine } from '../../domain/kernel/safe-text.ts'
import { describeRefusal, type RefusalCode } from '../../domain/refusal.ts'
import { RefusedError } from '../../domain/unwrap.ts'
import { StoreFailure } from '../../ports/store/store-failure.ts'
import type { TerminalRefusal } from '../../services/terminal/terminal-refusal.ts'

/** The statuses of problems. */
export const PROBLEM_STATUSES = [400, 401, 403, 404, 408, 409, 413, 415, 421, 422, 500, 503] as const

/** The status of a problem. */
export type ProblemStatus = (typeof PROBLEM_STATUSES)[number]

/** A request that gets no answer but a reason. */
export class HttpProblem extends Error {
  override readonly name = 'HttpProblem'
  readonly status: ProblemStatus
  readonly code: string

  constructor(status: ProblemStatus, code: string, message: string) {
    super(onOneLine(message)) // it may repeat what a request was made of
    this.status = status
    this.code = code
  }
}

type OwnCode = Exclude<TerminalRefusal['code'], RefusalCode>

const STATUS_OF = {
  'input.invalid': 400,
  'conversation.not_found': 404,
  'conversation.session_active': 409,
  'conversation.handoff_open': 409,
  'conversation.closed': 409,
  'conversation.open': 409,
  'conversation.key_taken': 409,
  'session.not_found': 422,
  'session.not_active': 409,
  'session.illegal_transition': 409,
  'session.held': 409,
  'session.superseded': 409,
  'session.no_token': 409,
  'session.attached': 409,
  'session.leased': 409,
  'session.not_leased': 409,
  'session.no_turns': 409,
  'turn.not_found': 422,
  'tool_call.not_found': 422,
  'handoff.not_found': 404,
  'handoff.same_agent': 409,
  'handoff.already_open': 409,
  'handoff.illegal_transition': 409,
  'turn.not_last': 409,
  'handoff.checkpointed': 409,
  'handoff.extracted': 409,
  'handoff.already_claimed': 409,
  'handoff.not_claimant': 409,
  'prompt.fence_not_unique': 409,
  'command.id_reused': 409,
  'transaction.conflict': 409,
  'feed.moved': 409,
  'budget.unpriced': 409,
  'budget.unmetered': 409,
  'thread.not_summarized': 409,
  'thread.no_workspace': 422,
  'thread.refinements_spent': 409,
  'thread.summary_empty': 422,
  'thread.block_not_reset': 409,
  'thread.other_store': 409,
  'thread.reported': 409,
  several: 409,
  'session.unknown': 404,
  'notify.forbidden': 403,
  'notify.unknown': 422,
  'workspace.unknown': 422,
  'document.not_pending': 404,
} as const satisfies Record<RefusalCode | OwnCode, ProblemStatus>

const sentence = (refusal: TerminalRefusal): string => {
  switch (refusal.code) {
    case 'session.unknown':
      return 'There is no such session here. Its start hook registers it, or POST /sessions.'
    case 'notify.forbidden':
      return 'Only the session itself and the one that started it may be told of its window. Name "self" or "parent".'
    case 'notify.unknown':
      return 'There is nobody to tell under that name. Name "self", or "parent" where another session started this one.'
    case 'workspace.unknown':
      return 'Nobody knows in which folder this session works, so no document can wait there. Start it again in its folder.'
    case 'document.not_pending':
      return 'No document of this session waits: it was taken up, replaced or withdrawn, or its time was over.'
    default:
      return describeRefusal(refusal)
  }
}

/** A refusal as a problem. */
export const problemOf = (refusal: TerminalRefusal): HttpProblem =>
  new HttpProblem(STATUS_OF[refusal.code], refusal.code, sentence(refusal))

/** Anything that was thrown as a problem. What nobody foresaw is told to the log, and not to the caller. */
export const problemFrom = (thrown: unknown): HttpProblem | undefined => {
  if (thrown instanceof HttpProblem) return thrown
  if (thrown instanceof RefusedError) return problemOf(thrown.refusal)
  if (thrown instanceof StoreFailure && thrown.retryable)
    return new HttpProblem(503, thrown.code, 'The store does not answer now. Send the same request again.')
  // Nothing that the caller could do: a person has to look at the store, and start the service again.
  if (thrown instanceof StoreFailure && thrown.code === 'store.set_back')
    return new HttpProblem(500, thrown.code, thrown.message)
  return undefined
}
