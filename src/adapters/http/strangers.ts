import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** How many connections without a token there may be, and how long each may last. */
export interface StrangerLimits {
  readonly most: number
  readonly ms: number
}

interface Answered {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

const LIMITS: StrangerLimits = { most: 32, ms: 2_000 }

/**
 * The connections at a port that have shown no token. Anybody on the machine can make some, and none of them may keep
 * those away who have one: they are few, the oldest goes when one more comes, and each ends after two seconds.
 */
export class Strangers {
  readonly #limits: StrangerLimits
  /** Oldest first, with the request of each that is being answered. */
  readonly #sockets = new Map<Socket, Answered | undefined>()

  constructor(limits: StrangerLimits = LIMITS) {
    this.#limits = limits
  }

  /** A connection was made. */
  came(socket: Socket): void {
    if (this.#sockets.size >= this.#limits.most) this.#end(this.#leastMissed() ?? socket)
    this.#sockets.set(socket, undefined)
    const timer = setTimeout(() => this.#look(socket), this.#limits.ms)
    timer.unref()
    socket.once('close', () => {
      clearTimeout(timer)
      this.#sockets.delete(socket)
    })
  }

  /** A request has come over a connection. */
  asks(answered: Answered): void {
    const { socket } = answered.request
    if (!this.#sockets.has(socket)) return
    this.#sockets.set(socket, answered)
    answered.response.once('close', () => {
      if (this.#sockets.get(socket) === answered) this.#sockets.set(socket, undefined)
    })
  }

  /** The client of a connection has shown a token that opens something. */
  trust(socket: Socket): void {
    this.#sockets.delete(socket)
  }

  /** Ends those that are not being answered: nobody waits for them when the server ends. */
  end(): void {
    for (const [socket, answered] of [...this.#sockets]) if (answered?.request.complete !== true) this.#end(socket)
  }

  /** The oldest one that is not being answered, else the oldest. */
  #leastMissed(): Socket | undefined {
    const all = [...this.#sockets]
    return (all.find(([, answered]) => answered?.request.complete !== true) ?? all[0])?.[0]
  }

  /**
   * Looks once everything that arrived in time was read: while the store was busy in this thread, nobody read it. A stranger
   * who has sent a whole request by then gets the answer first.
   */
  #look(socket: Socket): void {
    setImmediate(() =>
      setImmediate(() => {
        const answered = this.#sockets.get(socket)
        if (answered?.request.complete !== true) this.#end(socket)
        else answered.response.once('close', () => this.#end(socket))
      }),
    )
  }

  #end(socket: Socket): void {
    if (this.#sockets.delete(socket)) socket.destroy()
  }
}
