import type { LookBackAnswer, LookBackQuestion } from '../../src/domain/history/look-back.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import { silentLogger } from '../../src/ports/system/logger.ts'
import { LookBack } from '../../src/services/history/look-back-service.ts'
import { need } from './hands.ts'
import type { Stage } from './stage.ts'

/** Agents that look back, and the answers they get. */
export class LookBacks {
  readonly #stage: Stage
  #answer: LookBackAnswer | undefined

  constructor(stage: Stage) {
    this.#stage = stage
  }

  async ask(agent: string, question: LookBackQuestion): Promise<void> {
    const { faults, service: handoffs, hands } = this.#stage
    const lookBack = new LookBack({ store: faults.store, handoffs, logger: silentLogger })
    this.#answer = unwrap(await lookBack.ask({ session: hands.working(agent).session.id, question }))
  }

  /** The last answer. */
  get answer(): LookBackAnswer {
    return need(this.#answer, 'an answer')
  }
}
