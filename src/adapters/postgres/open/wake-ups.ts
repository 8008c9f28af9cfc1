import type { WakeUpListener, WakeUpState, WakeUps } from '../../../ports/store/wake-ups.ts'
import { toFailure } from '../statements/pg-errors.ts'
import { hear, NotHeardError, quietly, type WakeUpServer } from './wake-up-line.ts'

const FIRST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 10_000
/** A pooler does not go away by itself; it may have been a machine that was too busy, though. */
const NOT_HEARD_PAUSE_MS = 600_000

/** Wakes by notifications of the server, on a connection for each listener that is used for nothing else. */
export class PostgresWakeUps implements WakeUps {
  readonly #server: WakeUpServer | undefined
  readonly #listening = new Map<AbortController, Promise<void>>()

  /** Without a server to reach directly, nobody is woken. */
  constructor(server: WakeUpServer | undefined) {
    this.#server = server
  }

  listen(listener: WakeUpListener): Disposable {
    if (this.#server === undefined) {
      listener.tell({ isHeard: false, reason: 'the server is reached through a pooler' })
      return { [Symbol.dispose]: () => undefined }
    }
    const over = new AbortController()
    const ended = keepListening(this.#server, whileOpen(listener, over.signal), over.signal)
    this.#listening.set(over, ended)
    void ended.finally(() => this.#listening.delete(over))
    return { [Symbol.dispose]: () => over.abort() }
  }

  async close(): Promise<void> {
    const ending = [...this.#listening.values()]
    for (const over of this.#listening.keys()) over.abort()
    // Listening keeps no process alive. A process that closes the store waits for the end of listening, and must live to see it.
    const alive = setInterval(() => {}, 1_000)
    try {
      await Promise.all(ending)
    } finally {
      clearInterval(alive)
    }
  }
}

/** Listens on one connection after the other, and waits longer and longer between those that fail. */
const keepListening = async (server: WakeUpServer, listener: WakeUpListener, signal: AbortSignal): Promise<void> => {
  let pauseMs = FIRST_PAUSE_MS
  const watched: WakeUpListener = {
    wake: (agent) => listener.wake(agent),
    tell: (state) => {
      if (state.isHeard) pauseMs = FIRST_PAUSE_MS
      listener.tell(state)
    },
  }
  while (!signal.aborted) {
    try {
      await hear(server, watched, signal)
    } catch (error) {
      const isDeaf = error instanceof NotHeardError
      listener.tell({ isHeard: false, reason: isDeaf ? error.message : toFailure(error).message })
      await quietly(isDeaf ? NOT_HEARD_PAUSE_MS : pauseMs * (0.5 + Math.random()), signal)
      pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)
    }
  }
}

/** Tells a state once, and nothing any more after the end. */
const whileOpen = (listener: WakeUpListener, signal: AbortSignal): WakeUpListener => {
  let last: WakeUpState['isHeard'] | undefined
  return {
    wake: (agent) => {
      if (!signal.aborted) listener.wake(agent)
    },
    tell: (state) => {
      if (signal.aborted || state.isHeard === last) return
      last = state.isHeard
      listener.tell(state)
    },
  }
}
