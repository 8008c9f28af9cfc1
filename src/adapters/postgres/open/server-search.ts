import type { StoreFailure } from '../../../ports/store/store-failure.ts'
import { fitFailure, NoFitError, UnfitError } from './no-fit.ts'
import { lookAt } from './server-facts.ts'
import type { Server, ServerList } from './server-list.ts'
import { misfit, type SessionKind } from './session-kind.ts'

/** So long a server has to itself before the next one is tried as well: one that is switched off says nothing at all. */
const HEAD_START_MS = 250
/** How long to wait before all of them are asked again. */
const PAUSE_MS = 200

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds))

/**
 * Knows the server that connections lead to, and looks for it again whenever it is in doubt. A single server that nothing
 * was asked of is never looked for, and never doubted.
 */
export class ServerSearch {
  readonly #list: ServerList
  readonly #waitMs: number
  #latest: Server
  #current: Server | undefined
  #searching: Promise<Server> | undefined
  readonly #elsewhere = new Map<() => void, Server>()

  constructor(list: ServerList, { waitMs }: { readonly waitMs: number }) {
    this.#list = list
    this.#waitMs = waitMs
    this.#latest = list.servers[0]
    this.#current = this.isChoice ? undefined : this.#latest
  }

  /** Whether there is anything to look for. */
  get isChoice(): boolean {
    return this.#list.servers.length > 1 || this.#list.wanted !== 'any'
  }

  /** The server that was found last, though it may be in doubt. */
  get latest(): Server {
    return this.#latest
  }

  /** Whether connections to a server are still wanted. */
  isCurrent(server: Server): boolean {
    return this.#current === server
  }

  /** Which sessions are wanted. */
  get wanted(): SessionKind {
    return this.#list.wanted
  }

  /** The server to connect to. During a failover there is none for a while: it is waited for as for a connection. */
  async find(): Promise<Server> {
    if (this.#current !== undefined) return this.#current
    this.#searching ??= this.#search().finally(() => {
      this.#searching = undefined
    })
    return this.#searching
  }

  /** Something went wrong with a server: the next one who needs it looks for it first. */
  doubt(server: Server): void {
    if (this.isChoice && this.#current === server) this.#current = undefined
  }

  /** Calls back once connections lead to another server than this one. */
  whenElsewhere(server: Server, moved: () => void): Disposable {
    this.#elsewhere.set(moved, server)
    return { [Symbol.dispose]: () => this.#elsewhere.delete(moved) }
  }

  async #search(): Promise<Server> {
    const until = Date.now() + this.#waitMs
    for (;;) {
      try {
        return this.#found(await this.#lookAtAll(this.#list.wanted))
      } catch (error) {
        if (!(error instanceof AggregateError)) throw error
        const failure: StoreFailure = fitFailure(error.errors, this.#list)
        if (!failure.retryable || Date.now() + PAUSE_MS >= until) throw failure
        await pause(PAUSE_MS)
      }
    }
  }

  #found(server: Server): Server {
    this.#current = server
    this.#latest = server
    for (const [moved, from] of this.#elsewhere) {
      if (from === server) continue
      this.#elsewhere.delete(moved)
      moved()
    }
    return server
  }

  /** Asks each server, the latest first. @throws AggregateError with the reason of each */
  async #lookAtAll(wanted: SessionKind): Promise<Server> {
    if (wanted === 'prefer-standby')
      return this.#lookAtAll('standby').catch((error: unknown) => {
        if (error instanceof AggregateError) return this.#lookAtAll('any')
        throw error
      })
    const { servers } = this.#list
    const looks: Promise<Server>[] = []
    for (const server of [this.#latest, ...servers.filter((other) => other !== this.#latest)]) {
      looks.push(this.#fitting(server, wanted))
      const first = Promise.any(looks).catch(() => undefined)
      const found = await Promise.race([first, pause(HEAD_START_MS)])
      if (found instanceof Object) return found
    }
    return Promise.any(looks)
  }

  /** Each look gets half of the time, so that one server without an answer does not keep the others from a second look. */
  async #fitting(server: Server, wanted: SessionKind): Promise<Server> {
    try {
      const problem = misfit(wanted, await lookAt(server, this.#waitMs / 2))
      if (problem !== undefined) throw new NoFitError(problem)
      return server
    } catch (cause) {
      throw new UnfitError(server, cause)
    }
  }
}
