import type { AgentSdk, SdkOwnOptions, SdkPrompt } from '../../src/adapters/claude/runtime/sdk-module.ts'
import type { Sent } from './claude-messages.ts'

/** What a query of the fake does: sends messages, waits, throws. */
export type Play = (query: FakeQuery) => AsyncGenerator<Sent, void>

/** One query, and what was done to it. */
export interface FakeQuery {
  readonly options: SdkOwnOptions & Readonly<Record<string, unknown>>
  readonly prompts: SdkPrompt[]
  /** Settles when the input has ended. */
  readonly inputEnd: Promise<void>
  /** Settles when it was interrupted, or closed. */
  readonly stopped: Promise<void>
  interrupts: number
  closes: number
  questions: number
}

/** How the controls of a query behave. */
export interface FakeControls {
  readonly interrupt?: () => Promise<void>
  readonly context?: () => Promise<unknown>
}

/** An SDK that plays what it is told. */
export class FakeSdk implements AgentSdk<Sent> {
  readonly queries: FakeQuery[] = []
  readonly #play: Play
  readonly #controls: FakeControls

  constructor(play: Play, controls: FakeControls = {}) {
    this.#play = play
    this.#controls = controls
  }

  get only(): FakeQuery {
    const [query] = this.queries
    if (query === undefined || this.queries.length > 1) throw new Error(`There are ${this.queries.length} queries`)
    return query
  }

  readonly query: AgentSdk<Sent>['query'] = ({ prompt, options }) => {
    let stop = (): void => {}
    const stopped = new Promise<void>((resolve) => {
      stop = resolve
    })
    const prompts: SdkPrompt[] = []
    const read = async (): Promise<void> => {
      for await (const sent of prompt) prompts.push(sent)
    }
    const query: FakeQuery = {
      options: options as FakeQuery['options'],
      prompts,
      inputEnd: read(),
      stopped,
      interrupts: 0,
      closes: 0,
      questions: 0,
    }
    this.queries.push(query)
    return Object.assign(this.#play(query), {
      interrupt: async () => {
        query.interrupts += 1
        await this.#controls.interrupt?.()
        stop()
      },
      getContextUsage: async () => {
        query.questions += 1
        return this.#controls.context?.()
      },
      close: () => {
        query.closes += 1
        stop()
      },
    })
  }
}
