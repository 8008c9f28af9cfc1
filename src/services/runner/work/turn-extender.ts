import type { BudgetLimit } from '../../../domain/budget/restart-budget.ts'
import type { HandoffMetadata } from '../../../domain/handoff/handoff.ts'
import { cutText } from '../../../domain/kernel/cut-text.ts'
import type { MessageInput } from '../../../domain/turn/turn.ts'
import { bytesOf, MAX_TURN_BYTES } from '../../../domain/turn/turn-size.ts'
import { RefusedError } from '../../../domain/unwrap.ts'
import type { RunInProgress } from '../run-in-progress.ts'

/** The turn itself, and a redactor that makes texts longer, have the rest. */
const MOST_BYTES = MAX_TURN_BYTES / 4

/** Why a session is left: for a fresh window, because there is none to be had, or because its cost cannot be told. */
export type Leaving =
  | { readonly type: 'restart'; readonly handoff: HandoffMetadata }
  /** `isRefused` when it was refused a fresh window: then its work is not done, whatever it says last. */
  | { readonly type: 'exhausted'; readonly limit: BudgetLimit; readonly isRefused?: true }
  | { readonly type: 'uncounted'; readonly uncounted: Uncounted }

/** Why a cost cannot be told: nobody has a price for the model, or the agent does not say what is needed. */
export type Uncounted = { readonly model: string } | { readonly missing: 'usage' | 'cost' }

/** Adds what an agent says while it is being left to the turn that led to it. */
export class TurnExtender {
  readonly #run: RunInProgress
  #bytes = 0
  /** Whether the agent has answered again. */
  hasAnswer = false

  constructor(run: RunInProgress) {
    this.#run = run
  }

  async add(handoff: HandoffMetadata, said: readonly MessageInput[]): Promise<void> {
    if (said.length === 0) return
    this.hasAnswer ||= said.some(({ role }) => role === 'assistant')
    const { deps, held } = this.#run
    const messages = said.map((message) => this.#fitted(message))
    const request = { handoff: handoff.id, holder: held.holder, messages }
    const added = await this.#run.retryThroughOutage((named) => deps.handoffs.extendTurn({ ...request, ...named }))
    if (added.ok) return this.#run.update(added.value)
    if (['session.superseded', 'session.illegal_transition'].includes(added.error.code)) throw this.#run.overtaken()
    throw new RefusedError(added.error)
  }

  /** A turn has an end, however long it takes the agent to stop. */
  #fitted(message: MessageInput): MessageInput {
    this.#bytes += bytesOf(message)
    if (this.#bytes <= MOST_BYTES || message.text === '') return message
    const { redact = (text: string) => text, sha256 } = this.#run.deps
    const { cut = cutText(redact(message.text), 0, sha256).cut } = message
    return { ...message, text: '', ...(cut !== undefined && { cut }) }
  }
}
