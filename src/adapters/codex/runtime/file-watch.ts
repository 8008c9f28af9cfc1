import { type FSWatcher, watch } from 'node:fs'

/** How long a change may go unnoticed where the system tells nothing of it, as on some network drives. */
const POLL_MS = 250

/** Waits for signs that a file has changed: at once where the system tells, and every so often in any case. */
export class FileWatch {
  readonly #pollMs: number
  #watcher: FSWatcher | undefined
  #wake: (() => void) | undefined
  /** The system told of a change while nobody waited. */
  #hasSign = false
  #isClosed = false

  constructor(pollMs: number = POLL_MS) {
    this.#pollMs = pollMs
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Lets the system tell of changes, from here on. What it cannot watch is only polled. */
  follow(path: string): void {
    if (this.#watcher !== undefined || this.#isClosed) return
    try {
      const watcher = watch(path, { persistent: false }, () => this.#notice())
      watcher.on('error', () => watcher.close())
      this.#watcher = watcher
    } catch {
      // This machine may have no watch left, or none for this drive.
    }
  }

  /** Resolves when it is time to look again, or when it is closed. */
  async sign(): Promise<void> {
    if (!this.#hasSign && !this.#isClosed) await this.#pause()
    this.#hasSign = false
  }

  /** Ends it: a waiting caller is told, and neither a timer nor a watch is left. */
  close(): void {
    this.#isClosed = true
    this.#watcher?.close()
    this.#wake?.()
  }

  #notice(): void {
    this.#hasSign = true
    this.#wake?.()
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        clearTimeout(timer)
        this.#wake = undefined
        resolve()
      }
      const timer = setTimeout(this.#wake, this.#pollMs)
    })
  }
}
