import { type LookBackAnswer, questionText } from '../../domain/history/look-back.ts'
import type { AgentSessionId } from '../../domain/kernel/ids.ts'
import { err, ok, type Result } from '../../domain/kernel/result.ts'
import type { Refusal } from '../../domain/refusal.ts'
import type { Store } from '../../ports/store/store.ts'
import type { Logger } from '../../ports/system/logger.ts'
import { errorFields, safeLogger } from '../commands/safe-logger.ts'
import type { HandoffService } from '../handoff-service.ts'
import { answerLookBack, type LookBackAsked } from './look-back-question.ts'
import { askedId } from './questions.ts'

/** A question that a session asks about its own conversation. */
export interface LookBackRequest extends LookBackAsked {
  readonly session: AgentSessionId
}

/** The parts that looking back needs. */
export interface LookBackDeps {
  readonly store: Store
  readonly handoffs: Pick<HandoffService, 'recordLookBack'>
  readonly logger: Logger
}

/**
 * Lets a session look back at what its conversation said and did, and puts on record what it asked.
 *
 * It sees the conversation of the session that asks and no other. An answer has a bound, and costs the same however long
 * the conversation is.
 *
 * @example
 * ```ts
 * await using batonpass = await createBatonpass({ store: 'memory' })
 * const { handoffs, lookBack } = batonpass
 * const { conversation } = unwrap(await handoffs.openConversation({ originalTask: 'Fix the flaky test' }))
 * const agent = { agentName: 'claude-code', backend: 'claude_agent_sdk' }
 * const { session } = unwrap(await handoffs.startSession({ conversationId: conversation.id, ...agent }))
 * const answer = unwrap(await lookBack.ask({ session: session.id, question: { by: 'call', callId: '[call:toolu_01]' } }))
 * console.log(answer.found.length, answer.isWhole) // => 0 true
 * ```
 */
export class LookBack {
  readonly #store: Store
  readonly #handoffs: LookBackDeps['handoffs']
  readonly #logger: Logger

  constructor({ store, handoffs, logger }: LookBackDeps) {
    this.#store = store
    this.#handoffs = handoffs
    this.#logger = safeLogger(logger)
  }

  /**
   * Answers a question of a session about its own conversation. A call and a turn are found wherever they are; words and
   * files are searched in what came before the window of the session, newest first.
   *
   * @throws StoreFailure when the store cannot be read
   * @throws RefusedError when the session is named by something that is no id
   */
  async ask(request: LookBackRequest): Promise<Result<LookBackAnswer, Refusal>> {
    const sessionId = askedId(request.session)
    const answered = await answerLookBack(this.#store.lookBacks, { sessionId }, request)
    if (!answered.ok) return answered
    const { value: answer } = answered
    if (answer === undefined) return err({ code: 'session.not_found', sessionId })
    if (request.cursor === undefined) await this.#record(sessionId, answer)
    return ok(answer)
  }

  /** Puts the question on record, once however far its answer is read. What cannot be recorded is answered all the same. */
  async #record(session: AgentSessionId, { question, found }: LookBackAnswer): Promise<void> {
    const look = { session, by: question.by, text: questionText(question), found: found.length }
    try {
      const recorded = await this.#handoffs.recordLookBack(look)
      if (!recorded.ok) this.#logger.warn({ sessionId: session, code: recorded.error.code }, NOT_RECORDED)
    } catch (error) {
      this.#logger.warn({ sessionId: session, ...errorFields(error) }, NOT_RECORDED)
    }
  }
}

const NOT_RECORDED = 'a look back was answered and could not be put on record'
