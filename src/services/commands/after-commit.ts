import type { Store } from '../../ports/store/store.ts'
import type { CommandStamp } from '../../ports/store/unit-of-work.ts'

/** Something to tell about commands that are stored. */
type News = () => void | Promise<void>

/**
 * Waits with the news of commands until the transaction of the caller is committed. Only the caller knows when that is; the
 * store knows whether it is so.
 */
export class AfterCommit {
  /** The store outside of the transaction. */
  readonly outside: Store
  #latest: CommandStamp | undefined
  #news: News[] = []

  constructor(outside: Store) {
    this.outside = outside
  }

  /** A command was kept in the transaction. */
  kept(stamp: CommandStamp): void {
    this.#latest = stamp
  }

  wait(news: News): void {
    this.#news.push(news)
  }

  /** Tells what waits, once, if the latest command is on record. Answers whether it is. */
  async tell(): Promise<boolean> {
    if (this.#latest === undefined || !(await this.#isOnRecord(this.#latest))) return false
    const news = this.#news
    this.#news = []
    for (const each of news) await each()
    return true
  }

  /** The question is about nothing: every answer says first whether its command was carried out. */
  async #isOnRecord(stamp: CommandStamp): Promise<boolean> {
    const { repeated } = await this.outside.unitOfWork.load({ about: 'opening' }, stamp)
    return repeated !== undefined
  }
}
