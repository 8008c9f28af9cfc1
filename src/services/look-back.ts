import type { LookBackAnswer, LookBackQuestion } from '../domain/history/look-back.ts'
import type { AgentSessionId } from '../domain/kernel/ids.ts'
import type { Result } from '../domain/kernel/result.ts'
import type { Refusal } from '../domain/refusal.ts'
import type { HandoffServiceDeps } from './session-keeping.ts'

/** A question that a session asks about its own conversation. */
export interface LookBackRequest {
  readonly session: AgentSessionId
  readonly question: LookBackQuestion
  /** The `next` of an answer to the same question. */
  readonly cursor?: string
  /** How many characters of recorded text the answer has at most: 8,000 unless given, from 1,000 to 20,000. */
  readonly limit?: number
}

/** Lets a session look back at what its conversation said and did, and puts on record what it asked. */
export class LookBack {
  readonly #deps: HandoffServiceDeps

  constructor(deps: HandoffServiceDeps) {
    this.#deps = deps
  }

  /** Answers a question of a session about its own conversation. */
  async ask(request: LookBackRequest): Promise<Result<LookBackAnswer, Refusal>> {
    throw new Error(`not answered yet: ${request.question.by}, ${Object.keys(this.#deps).length}`)
  }
}
