import type { WindowEvent } from '../../../domain/window/window-event.ts'
import type { CutLine } from '../../../processes/text-lines.ts'

/** A runtime at work, before anything it says is understood. */
export interface AgentSource<Message> {
  /** Its messages, and lines that were too long to be one. */
  readonly messages: AsyncIterator<Message | CutLine>
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
