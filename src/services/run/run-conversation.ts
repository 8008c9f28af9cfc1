import type { RestartBudget } from '../../domain/budget/restart-budget.ts'
import { type Conversation, taskOf } from '../../domain/conversation/conversation.ts'
import type { ConversationId } from '../../domain/kernel/ids.ts'

/** The conversation of a run as it was last read, and its task while that is asked and not said. */
export class RunConversation {
  #current: Conversation
  #unsaidTask: string | undefined

  constructor(conversation: Conversation) {
    this.#current = conversation
  }

  get current(): Conversation {
    return this.#current
  }

  get id(): ConversationId {
    return this.#current.id
  }

  get restartBudget(): RestartBudget {
    return this.#current.restartBudget
  }

  /** The task of the moment. */
  get task(): string {
    return taskOf(this.#current)
  }

  /** Takes in what a new prompt made of the conversation. */
  update(conversation: Conversation): void {
    this.#current = conversation
  }

  /** The task, while no agent was told: it is part of the next launch. */
  get unsaidTask(): string | undefined {
    return this.#unsaidTask
  }

  /** Notes what is still to be said; nothing when the task is said. */
  noteUnsaid(task: string | undefined): void {
    this.#unsaidTask = task
  }

  /** The task that is still to be said. Whoever takes it says it. */
  takeUnsaid(): string | undefined {
    const task = this.#unsaidTask
    this.#unsaidTask = undefined
    return task
  }
}
