import type { ContextSignal } from '../../domain/session/context-signal.ts'
import type { Notifier } from '../../ports/system/notifier.ts'

/** Takes a signal. */
export type SignalListener = (signal: ContextSignal) => void | Promise<void>

/**
 * Tells listeners in this process of signals, as soon as they are stored. One that throws does not keep the others.
 *
 * @example
 * ```ts
 * const notifier = new InProcessNotifier()
 * const stop = notifier.listen(({ kind, text }) => console.log(kind, text))
 * await using batonpass = await createBatonpass({ store: 'memory', notifier })
 * const { conversation } = unwrap(await batonpass.handoffs.openConversation({ originalTask: 'Fix the flaky test' }))
 * const agent = { agentName: 'claude-code', backend: 'claude_agent_sdk' }
 * const { session } = unwrap(await batonpass.handoffs.startSession({ conversationId: conversation.id, ...agent }))
 * await batonpass.context.send({ session, text: 'The build is red' }) // => message The build is red
 * stop()
 * ```
 */
export class InProcessNotifier implements Notifier {
  readonly #listeners = new Set<SignalListener>()

  /** Tells a listener of every signal from now on; the answer ends that. */
  listen(listener: SignalListener): () => void {
    this.#listeners.add(listener)
    return () => {
      this.#listeners.delete(listener)
    }
  }

  async notify(signal: ContextSignal): Promise<void> {
    await Promise.allSettled([...this.#listeners].map(async (listener) => listener(signal)))
  }
}
