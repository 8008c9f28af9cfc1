import type { RestartBudget } from '../../domain/budget/restart-budget.ts'
import { type Conversation, taskOf } from '../../domain/conversation/conversation.ts'
import type { ConversationId } from '../../domain/kernel/ids.ts'

/** The conversation of a run as it was last read, and its task until the agent is sent it. */
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

  /** The current task: the latest prompt. */
  get task(): string {
    return taskOf(this.#current)
  }

  /** Replaces the copy of the conversation. */
  update(conversation: Conversation): void {
    this.#current = conversation
  }

  /** The task while no agent was sent it: the next launch sends it. */
  get unsaidTask(): string | undefined {
    return this.#unsaidTask
  }

  /** Notes a task that the agent is still to be sent; undefined when it was sent. */
  noteUnsaid(task: string | undefined): void {
    this.#unsaidTask = task
  }

  /** The task that the agent is still to be sent, once: the caller sends it. */
  takeUnsaid(): string | undefined {
    const task = this.#unsaidTask
    this.#unsaidTask = undefined
    return task
  }
}
