import { setTimeout as wait } from 'node:timers/promises'
import { RolloutTail } from '../readers/rollout-tail.ts'
import { type CodexUsage, lastThreadTotals, NOTHING_USED } from '../readers/rollout-totals.ts'
import { FileWatch } from './file-watch.ts'
import { findRollout } from './rollout-file.ts'

/** A thread that is resumed may be old. */
const ANY_DAY = { days: 1_000 }
/** One that has just begun is in one of the newest folders: around midnight, or where clocks differ, not in the last. */
const THIS_WEEK = { days: 7 }
const POLL_MS = 25

/** Finds the rollout of a thread as soon as there is one, and gives what it gains. */
export class RolloutFollower {
  readonly #home: string
  readonly #watch: FileWatch
  #thread: string | undefined
  #tail: RolloutTail | undefined
  #growing: Promise<void> | undefined
  /** The thread's usage before; absent when that is not known. */
  #usedBefore: CodexUsage | undefined = NOTHING_USED

  constructor(home: string, watch: FileWatch = new FileWatch()) {
    this.#home = home
    this.#watch = watch
  }

  /** Follows a thread that was there before, from here on: what it said earlier was read earlier. */
  static async ofResumed(home: string, thread: string): Promise<RolloutFollower> {
    const follower = new RolloutFollower(home)
    const path = await findRollout(home, thread, ANY_DAY)
    follower.#thread = thread
    follower.#tail = path === undefined ? undefined : await RolloutTail.fromEnd(path)
    follower.#usedBefore = path === undefined ? undefined : await lastThreadTotals(path)
    return follower
  }

  get isFound(): boolean {
    return this.#tail !== undefined
  }

  get usedBefore(): CodexUsage | undefined {
    return this.#usedBefore
  }

  /** Says which thread to look for, once that is known. */
  follow(thread: string): void {
    this.#thread ??= thread
  }

  /** Records that were written since the last call. */
  async *gained(): AsyncGenerator<unknown> {
    await this.#look()
    if (this.#tail !== undefined) yield* this.#tail.records()
  }

  /** Resolves once the rollout has gained something, or when it is no longer watched. Asked twice, it waits once. */
  grown(): Promise<void> {
    this.#growing ??= this.#untilGrown().finally(() => {
      this.#growing = undefined
    })
    return this.#growing
  }

  /** Ends the watch. What was written can still be read. */
  close(): void {
    this.#watch.close()
  }

  /** Waits for a rollout that is not there yet, and no longer than this. */
  async waitUntilFound(milliseconds: number): Promise<void> {
    if (this.#thread === undefined) return
    const deadline = performance.now() + milliseconds
    while (!(await this.#look()) && performance.now() < deadline) await wait(POLL_MS)
  }

  async #untilGrown(): Promise<void> {
    while (!this.#watch.isClosed && !(await this.#hasGrown())) await this.#watch.sign()
  }

  async #hasGrown(): Promise<boolean> {
    await this.#look()
    if (this.#tail === undefined) return false
    this.#watch.follow(this.#tail.path)
    return this.#tail.hasGrown()
  }

  async #look(): Promise<boolean> {
    if (this.#tail !== undefined || this.#thread === undefined) return this.isFound
    const path = await findRollout(this.#home, this.#thread, THIS_WEEK)
    // Two calls may have looked at once: the second one would read everything again.
    if (path !== undefined) this.#tail ??= new RolloutTail(path)
    return this.isFound
  }
}
