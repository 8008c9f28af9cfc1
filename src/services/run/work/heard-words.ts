import { type Channel, originOn } from '../../../domain/turn/channel.ts'
import { type KnownPrompt, metPrompt, type PromptWords, withPrompt } from '../../../domain/turn/known-prompts.ts'
import type { RecordedText } from '../../../ports/agent/window-reader.ts'

/** Tells whose words an agent's texts are, by their channel and by the prompts that the agent was sent. */
export class HeardWords {
  readonly #how: PromptWords
  readonly #channel: Channel
  /** On record already, or to be, with the origins of their parts. */
  #sent: readonly KnownPrompt[] = []

  constructor(how: PromptWords, channel: Channel) {
    this.#how = how
    this.#channel = channel
  }

  /** Notes a prompt that the agent was sent. */
  sent(text: string): void {
    this.#sent = withPrompt(this.#sent, { by: `prompt ${this.#sent.length + 1}`, text }, this.#how)
  }

  /** Texts with the origins that their channel allows. A prompt of ours that a runtime says again is left out, once. */
  take(texts: readonly RecordedText[]): readonly RecordedText[] {
    return texts.flatMap((said) => {
      if (said.role !== 'user') return [said]
      const left = metPrompt(this.#sent, said.text, this.#how)
      if (left === undefined) return [{ ...said, origin: originOn(this.#channel, said.origin) }]
      this.#sent = left
      return []
    })
  }
}
