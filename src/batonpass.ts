import { type BatonpassOptions, buildContainer, TOKENS } from './container.ts'
import type { HandoffService } from './services/handoff-service.ts'

/** Batonpass, put together and ready. Close it, or leave its `await using` block, when done. */
export interface Batonpass extends AsyncDisposable {
  readonly handoffs: HandoffService
  close(): Promise<void>
}

/**
 * Puts Batonpass together, for people who do not want to see a container.
 *
 * @example
 * ```ts
 * await using batonpass = await createBatonpass()
 * const opened = await batonpass.handoffs.openConversation({ originalTask: 'Fix the flaky test' })
 * if (!opened.ok) throw new Error(describeRefusal(opened.error))
 * console.log(opened.value.conversation.originalTask)
 * ```
 */
export const createBatonpass = async (options: BatonpassOptions = {}): Promise<Batonpass> => {
  const parts = buildContainer(options)
  const store = parts.resolve(TOKENS.store)
  const close = async (): Promise<void> => {
    if (options.store === undefined) await store[Symbol.asyncDispose]()
  }
  return { handoffs: parts.resolve(TOKENS.handoffService), close, [Symbol.asyncDispose]: close }
}
