import { AGENT_ENDS, type AgentReport, type AgentStop, saysTooLong } from '../../domain/run/agent-end.ts'
import type { RuntimeEnd, RuntimeStep } from '../../ports/agent/agent-runtime.ts'
import type { ReportedEnd } from '../../ports/agent/window-reader.ts'
import type { CutLine } from '../../processes/text-lines.ts'

/** How an agent stopped, with the words for it when that was bad. */
export interface Stopped {
  readonly how: AgentStop
  readonly words: string
  /** Why nothing that it wrote was understood; absent where it was, or needs not be. */
  readonly notUnderstood?: string | undefined
}

/** Keeps what an agent reports about its end, and settles what the end means. The last result counts. */
export class EndReport {
  #result: RuntimeEnd | undefined
  /** An error that another try may have followed: it counts where no result came. */
  #error: RuntimeEnd | undefined
  #cut: CutLine | undefined

  take(reported: ReportedEnd | undefined): void {
    if (reported?.isFinal === true) this.#result = reported.end
    else if (reported !== undefined) this.#error = reported.end
  }

  /** Takes a line that was too long. It is on record with its beginning, as an answer of its own. */
  takeCut(line: CutLine): RuntimeStep<never> {
    this.#cut = line
    return { events: [], texts: [{ role: 'assistant', text: line.words }], beginsTurn: true }
  }

  /** Whether it is known why an agent failed that stopped with these words: it reported an error, or its window was full. */
  explains(words: string): boolean {
    return this.#report(this.#result ?? this.#error, undefined) === 'error' || saysTooLong(words)
  }

  settle({ how, words, notUnderstood }: Stopped): RuntimeEnd {
    const ownEnd = this.#result ?? this.#error
    const report = this.#report(ownEnd, notUnderstood)
    switch (AGENT_ENDS[how][report]) {
      case 'done':
        return { type: 'idle' }
      case 'its words':
        return how === 'badly' && ownEnd?.type === 'failed'
          ? { ...ownEnd, message: `${ownEnd.message} ${words}`.trim() }
          : (ownEnd ?? failed(words))
      case 'how it stopped':
        return saysTooLong(words) ? { type: 'overflow', message: words } : failed(words)
      case 'cut':
        return failed(`The agent ended without a result, which may have been in a line that was cut: ${this.#cut?.why}`)
      case 'unknown':
        return failed(notUnderstood ?? words)
    }
  }

  #report(ownEnd: RuntimeEnd | undefined, notUnderstood: string | undefined): AgentReport {
    if (ownEnd !== undefined) return ownEnd.type === 'idle' ? 'success' : 'error'
    if (this.#cut !== undefined) return 'a line that was cut'
    return notUnderstood === undefined ? 'nothing' : 'no known line'
  }
}

const failed = (message: string): RuntimeEnd => ({ type: 'failed', message })
