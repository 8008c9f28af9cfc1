import { createServer, type Server, Socket } from 'node:net'
import { errorResponse, frameReader } from './wire-frames.ts'

/** What the proxy does with what it gets. */
export type ProxyMode =
  /** Passes everything on. */
  | 'forward'
  /** Takes everything and passes nothing on: a peer that is gone without a word. */
  | 'silent'
  /** Ends new connections as soon as the client has introduced itself. */
  | 'closing'

/** How much of an answer still reaches the client before the line is cut. */
export type Cut = 'before' | 'half' | 'last_byte'

/** Messages that a client sends and then waits: Sync, Query, Flush, FunctionCall. */
const AWAITED = new Set(['S', 'Q', 'H', 'F'])

/** What an administrator's shutdown says: FATAL 57P01. */
const SHUTDOWN = errorResponse({ severity: 'FATAL', code: '57P01', message: 'terminating connection' })

/** Both ends of one connection through the proxy. */
interface Line {
  readonly client: Socket
  readonly server: Socket
}

/** Stands between a store and its server: counts round trips at the wire, and misbehaves when told to. */
export class TcpProxy implements AsyncDisposable {
  mode: ProxyMode = 'forward'
  /** How often a client sent something and waited for the answer, logging in apart. */
  roundTrips = 0
  /** How many answers were cut off. */
  cuts = 0
  /** Every so many answers the server seems to shut down right behind one; 0 for never. */
  shutdownEvery = 0
  /** How many answers came with a shutdown in the same packet: at the end of a login, or of a statement. */
  readonly shutdowns = { login: 0, statement: 0 }
  readonly #server: Server
  readonly #target: URL
  readonly #sockets = new Set<Socket>()
  readonly #plannedCuts: Cut[] = []
  #answered = 0

  private constructor(server: Server, target: URL) {
    this.#server = server
    this.#target = target
    server.on('connection', (client) => this.#serve(client))
  }

  /** Listens before the server of this address. */
  static async before(url: string): Promise<TcpProxy> {
    const server = createServer({ allowHalfOpen: true })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return new TcpProxy(server, new URL(url))
  }

  /** The address of the server, through the proxy. */
  get url(): string {
    const address = this.#server.address()
    const through = new URL(this.#target)
    through.hostname = '127.0.0.1'
    through.port = typeof address === 'object' && address ? String(address.port) : ''
    return through.href
  }

  /** How many connections the client has not hung up. */
  get connections(): number {
    return [...this.#sockets].filter(({ destroyed, readableEnded }) => !destroyed && !readableEnded).length
  }

  /** Cuts the line, once each, after a unit was committed and before its answer has reached the client. */
  cutAfterCommit(...cuts: readonly Cut[]): void {
    this.#plannedCuts.push(...cuts)
  }

  /** How many round trips something takes. */
  async counting<T>(work: () => Promise<T>): Promise<{ readonly value: T; readonly roundTrips: number }> {
    const before = this.roundTrips
    const value = await work()
    return { value, roundTrips: this.roundTrips - before }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
  }

  #serve(client: Socket): void {
    const server = new Socket()
    for (const socket of [client, server]) socket.on('error', () => {})
    this.#sockets.add(client)
    if (this.mode === 'closing') client.once('data', () => client.destroy())
    if (this.mode === 'silent') client.resume()
    if (this.mode !== 'forward') return
    const both = { client, server }
    server.connect(Number(this.#target.port || 5432), this.#target.hostname)
    const answers = this.#answers(both)
    const statements = new Map<string, boolean>()
    let isCommit = false
    const read = frameReader('client', ({ type, body }) => {
      if (AWAITED.has(type)) this.roundTrips += 1
      const [first = '', second = ''] = body.subarray(0, 400).toString('latin1').split('\0')
      if (type === 'P') statements.set(first, second.includes('commit_unit'))
      if (type === 'B') isCommit = statements.get(second) ?? false
      if (type === 'S' && isCommit) {
        isCommit = false
        answers.expectCommit()
      }
    })
    client.on('data', (chunk) => {
      if (this.mode === 'silent') return
      read(chunk)
      server.write(chunk)
    })
    server.on('data', (chunk) => {
      if (this.mode !== 'silent') answers.pass(chunk)
    })
    client.on('close', () => server.destroy())
    server.on('close', () => this.mode !== 'silent' && client.destroy())
    client.on('end', () => this.mode !== 'silent' && server.end())
    server.on('end', () => this.mode !== 'silent' && client.end())
  }

  /** Passes answers on, unless one of them is to be cut: that one is held back until the server is done with it. */
  #answers(both: Line) {
    const { client, server } = both
    let cut: Cut | undefined
    let held = Buffer.alloc(0)
    let isOver = false
    const read = frameReader('server', ({ type }) => {
      if (type === 'Z' && cut !== undefined) isOver = true
    })
    const shutdown = this.#shutdown(both)
    const pass = (chunk: Buffer): void => {
      read(chunk)
      if (shutdown(chunk)) return
      if (cut === undefined) {
        client.write(chunk)
        return
      }
      held = Buffer.concat([held, chunk])
      if (!isOver) return
      const kept = { before: 0, half: Math.floor(held.length / 2), last_byte: held.length - 1 }[cut]
      this.cuts += 1
      server.destroy()
      // Half of them end with a goodbye, half with a reset.
      if (this.cuts % 2 === 0) client.write(held.subarray(0, kept), () => client.resetAndDestroy())
      else client.end(held.subarray(0, kept), () => client.destroy())
    }
    return {
      pass,
      expectCommit: (): void => {
        cut ??= this.#plannedCuts.shift()
      },
    }
  }

  /** Glues a shutdown to the end of an answer when it is time for one, and says whether it did. */
  #shutdown({ client, server }: Line): (chunk: Buffer) => boolean {
    let isReady = false
    let kind: keyof TcpProxy['shutdowns'] = 'login'
    const read = frameReader('server', ({ type }) => {
      isReady = type === 'Z'
    })
    return (chunk) => {
      isReady = false
      read(chunk)
      if (!isReady) return false
      const ending = kind
      kind = 'statement'
      this.#answered += 1
      if (this.shutdownEvery === 0 || this.#answered % this.shutdownEvery !== 0) return false
      this.shutdowns[ending] += 1
      client.end(Buffer.concat([chunk, SHUTDOWN]))
      server.destroy()
      return true
    }
  }
}
