import type { Answer, Decided } from '../domain/decision.ts'
import type { Refusal } from '../domain/refusal.ts'
import { err, ok, type Result } from '../domain/result.ts'
import type { Store } from '../ports/store.ts'
import { StoreFailure } from '../ports/store-failure.ts'
import type { CommandStamp, Question, Repeated, Subjects } from '../ports/unit-of-work.ts'
import { answerAgain, receiptFor } from './receipts.ts'

/** Each conflict means that somebody else got on, so a command this unlucky points at a store that never says yes. */
const MAX_CONFLICTS = 1_000

/** A command, ready to be decided. */
export interface Command<Subject extends keyof Subjects, Held, A extends Answer> {
  readonly stamp: CommandStamp
  /** After so many conflicts. */
  readonly question: Question<Subject> | ((conflicts: number) => Question<Subject>)
  /** What the caller already holds; deciding on it saves the read. */
  readonly held?: Held
  /** Gives nothing when the caller's own copy does not say enough: then the facts are read. */
  readonly decide: (facts: Held | Subjects[Subject]['facts']) => Decided<A> | undefined
  /** Puts back into a repeated answer what is kept nowhere any more and the caller has just said again. */
  readonly restore?: (answer: A) => A
}

/** Loads, decides and commits, again when something moved meanwhile. It knows no rule: the domain decides. */
export class CommandRunner {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  /**
   * Carries a command out once, however often it is asked.
   *
   * A no decided on the caller's own copy is never final: the copy may be old, or the command already done.
   */
  async run<Subject extends keyof Subjects, Held, A extends Answer>(
    command: Command<Subject, Held, A>,
  ): Promise<Result<A, Refusal>> {
    const { stamp, question, decide } = command
    let facts: Held | Subjects[Subject]['facts'] | undefined = command.held
    let fresh = false
    for (let conflicts = 0; conflicts < MAX_CONFLICTS; ) {
      if (facts === undefined) {
        const asked = typeof question === 'function' ? question(conflicts) : question
        const loaded = await this.#store.unitOfWork.load<Subject>(asked, stamp)
        if (loaded.repeated !== undefined) return this.#again(command, loaded.repeated)
        facts = loaded.facts
        fresh = true
      }
      const decided: Decided<A> | undefined = decide(facts)
      facts = undefined
      if (decided === undefined && fresh) throw new TypeError('A decision needs more than the store was asked for')
      if (decided !== undefined && !decided.ok && fresh) return decided
      if (decided === undefined || !decided.ok) continue
      const { changes, events, answer } = decided.value
      if (changes.length === 0 && events.length === 0) {
        // A name may have been used before, which only the store can tell.
        if (fresh || stamp.isNamed !== true) return ok(answer)
        continue
      }
      // A reading that leads to nothing is not remembered, unless somebody named it in order to ask again.
      const isStep = events.length > 0 || answer.signals !== undefined || stamp.isNamed === true
      const receipt = isStep ? { receipt: receiptFor(answer) } : {}
      const unit = { command: stamp, changes, events, ...receipt }
      const kept = await this.#store.unitOfWork.commit(unit)
      if (kept.outcome === 'kept') return ok(answer)
      if (kept.outcome === 'repeated') return this.#again(command, kept.repeated)
      conflicts += 1
    }
    throw new StoreFailure(
      'store.contention',
      `Command ${stamp.id} met ${MAX_CONFLICTS} conflicts in a row. Try again.`,
    )
  }

  async #again<A extends Answer>(
    { stamp, restore = (answer) => answer }: Pick<Command<keyof Subjects, unknown, A>, 'stamp' | 'restore'>,
    repeated: Repeated,
  ): Promise<Result<A, Refusal>> {
    if (!repeated.samePayload) return err({ code: 'command.id_reused', commandId: stamp.id })
    // The receipt was made from this command's own answer, so it gives back the same parts.
    return ok(restore((await answerAgain(repeated.receipt, this.#store)) as A))
  }
}
