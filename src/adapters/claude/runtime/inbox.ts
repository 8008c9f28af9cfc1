/** A queue with several senders and one reader, in order. */
export class Inbox<Item> {
  readonly #items: Item[] = []
  #wake: (() => void) | undefined

  put(item: Item): void {
    this.#items.push(item)
    this.#wake?.()
  }

  async take(): Promise<Item> {
    for (;;) {
      const [item] = this.#items.splice(0, 1)
      if (item !== undefined) return item
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }
}
