import { lookBackAllowance } from '../../../domain/history/look-back.ts'
import { lookBackText } from '../../../domain/history/look-back-text.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import type { AgentSessionId } from '../../../domain/kernel/ids.ts'
import { err } from '../../../domain/kernel/result.ts'
import { describeRefusal } from '../../../domain/refusal.ts'
import type { LooksBack, ToolRefused } from '../../../ports/agent/run-tools.ts'
import type { LookBack } from '../../history/look-back-service.ts'

/** The characters of an answer unless the agent asks for another number, and the fewest that can be asked for. */
const USUAL_LIMIT = 8_000
const LEAST_LIMIT = 1_000

/** Answers the questions of sessions about earlier windows, and limits the answers of each to a part of its window. */
export class LookBackAccount {
  readonly #lookBack: Pick<LookBack, 'ask'>
  /** The characters of the answers to each session so far. */
  readonly #given = new Map<AgentSessionId, number>()

  constructor(lookBack: Pick<LookBack, 'ask'>) {
    this.#lookBack = lookBack
  }

  /** The answers for one session. Its window may become known only while it works. */
  for(session: AgentSessionId, windowTokens: () => number | undefined): LooksBack {
    return async ({ question, cursor, limit: wanted = USUAL_LIMIT }) => {
      const allowance = lookBackAllowance(windowTokens())
      const limit = Math.min(wanted, allowance - this.#givenTo(session))
      if (limit < LEAST_LIMIT) return err(spent(allowance))
      // Counted before the answer is there, because several questions may be asked at once.
      this.#count(session, limit)
      let used = 0
      try {
        const answer = await this.#lookBack.ask({ session, question, limit, ...defined({ cursor }) })
        if (!answer.ok) return err({ code: answer.error.code, message: describeRefusal(answer.error) })
        used = lookBackText(answer.value).length
        return answer
      } finally {
        this.#count(session, used - limit)
      }
    }
  }

  #givenTo(session: AgentSessionId): number {
    return this.#given.get(session) ?? 0
  }

  #count(session: AgentSessionId, characters: number): void {
    this.#given.set(session, this.#givenTo(session) + characters)
  }
}

const spent = (allowance: number): ToolRefused => ({
  code: 'look_back.spent',
  message:
    `This window was given all that it may look up, ${allowance} characters, so that its own work has room. ` +
    'Continue with what you have, and look at the files themselves for the rest.',
})
