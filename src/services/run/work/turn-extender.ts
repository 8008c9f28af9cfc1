import type { HandoffMetadata } from '../../../domain/handoff/handoff.ts'
import { cutText } from '../../../domain/kernel/cut-text.ts'
import { isOvertaken } from '../../../domain/refusal.ts'
import type { MessageInput } from '../../../domain/turn/turn.ts'
import { bytesOf, MAX_TURN_BYTES } from '../../../domain/turn/turn-size.ts'
import { RefusedError } from '../../../domain/unwrap.ts'
import type { RunInProgress } from '../run-in-progress.ts'

/** The rest is for the turn itself, and for a redactor that makes texts longer. */
const MOST_BYTES = MAX_TURN_BYTES / 4

type Extending = Pick<RunInProgress, 'deps' | 'held' | 'retryThroughOutage'>

/** Adds the late messages of an agent whose session is held by a handoff to the turn that led to that handoff. */
export class TurnExtender {
  readonly #run: Extending
  #bytes = 0
  #hasAnswer = false

  constructor(run: Extending) {
    this.#run = run
  }

  /** Whether the agent has answered again. */
  get hasAnswer(): boolean {
    return this.#hasAnswer
  }

  async add(handoff: HandoffMetadata, late: readonly MessageInput[]): Promise<void> {
    if (late.length === 0) return
    this.#hasAnswer ||= late.some(({ role }) => role === 'assistant')
    const { deps, held } = this.#run
    const messages = late.map((message) => this.#fitted(message))
    const request = { handoff: handoff.id, holder: held.holder, messages }
    const added = await this.#run.retryThroughOutage((named) => deps.handoffs.extendTurn({ ...request, ...named }))
    if (added.ok) return this.#run.held.update(added.value)
    if (isOvertaken(added.error)) throw this.#run.held.supersededError()
    throw new RefusedError(added.error)
  }

  /** Beyond a size the texts are cut, however long the agent takes to stop. */
  #fitted(message: MessageInput): MessageInput {
    this.#bytes += bytesOf(message)
    if (this.#bytes <= MOST_BYTES || message.text === '') return message
    const { redact = (text: string) => text, sha256 } = this.#run.deps
    const { cut = cutText(redact(message.text), 0, sha256).cut } = message
    return { ...message, text: '', ...(cut !== undefined && { cut }) }
  }
}
