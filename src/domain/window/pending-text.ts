/** Characters that make about one token, for text no usage counts yet. */
const CHARACTERS_PER_TOKEN = 4

/** About how many tokens a text of so many characters has. */
export const tokensIn = (characters: number): number => Math.ceil(characters / CHARACTERS_PER_TOKEN)

/** Text that came after the last request and that no usage counts yet. */
export class PendingText {
  #characters = 0
  #sinceRequest = 0

  append(characters: number): void {
    this.#characters += characters
    this.#sinceRequest += characters
  }

  /** A request sent all that came before it, unless it is reported late: then what came since the last one is still due. */
  request(isLate: boolean): void {
    this.#characters = isLate ? this.#sinceRequest : 0
    this.#sinceRequest = 0
  }

  /** Keeps the text that came after the request: the request is only reported a second time. */
  reportedAgain(): void {
    this.#sinceRequest = 0
  }

  clear(): void {
    this.#characters = 0
    this.#sinceRequest = 0
  }

  get tokens(): number {
    return tokensIn(this.#characters)
  }
}
