import type { WindowEvent } from '../../domain/window/window-event.ts'

/** A runtime at work, before anything it says is understood. */
export interface AgentSource<Message> {
  readonly messages: AsyncIterator<Message>
  /** Says something to it while it works, if it can hear. */
  tell?(text: string): void
  /** Asks it to stop. May throw. */
  interrupt(): Promise<unknown>
  /** Asks it about its window, where it can be asked. May throw, or never answer. */
  window?(): Promise<readonly WindowEvent[]>
  /** Tells it that nothing more will be asked, so that it ends by itself. */
  finish(): void
  /** Ends it, and everything it started; gives it a moment to end by itself first when it has finished. */
  close(hasFinished: boolean): Promise<void>
  /** Its error output beside its messages, if any. */
  complaint(): string
}
