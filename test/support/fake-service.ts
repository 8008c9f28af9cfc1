import { createHmac, randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import type { HookSignal } from '../../src/adapters/hook-client/post-event.ts'
import type { HookPost } from '../../src/ports/terminal/wire.ts'
import { bootId, readProcess } from '../../src/processes/process-table.ts'

/** What a stand-in answers to an event. */
export interface FakeAnswer {
  readonly signals?: readonly HookSignal[]
  readonly inject?: string | null
  readonly notice?: string | null
}

/** How it may misbehave. */
export type Manner =
  | 'answers'
  | 'silent'
  | 'garbage'
  | 'oversized'
  | 'broken'
  | 'refuses'
  | 'redirects'
  | 'list'
  | 'hangs up'

/** A stand-in for the service, on a socket: it takes events as the real one does, and keeps nothing but what it was told. */
export class FakeService implements AsyncDisposable {
  readonly folder: string
  /** Every request that carried the right token, doubles included. */
  readonly requests: HookPost[] = []
  /** Each command once, by whatever way it came. */
  readonly taken = new Map<string, HookPost>()
  /** Requests that came with another token. */
  refused = 0
  manner: Manner = 'answers'
  answer: (post: HookPost) => FakeAnswer = () => ({})
  readonly #server: Server

  private constructor(folder: string) {
    this.folder = folder
    this.#server = createServer(
      (request, response) => void this.#respond(request, response).catch(() => response.destroy()),
    )
  }

  /** Starts one that the folder names from now on. */
  static async start(folder: string): Promise<FakeService> {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const service = new FakeService(folder)
    mkdirSync(join(folder, 'service'), { recursive: true, mode: 0o700 })
    const socket = `service/fake-${randomBytes(4).toString('hex')}.sock`
    await new Promise<void>((resolve) => service.#server.listen(join(folder, socket), resolve))
    const token = join(folder, 'service.token')
    if (!existsSync(token)) writeFileSync(token, randomBytes(32).toString('hex'), { mode: 0o600 })
    const { pid } = process
    const named = {
      ...{ v: 2, pid, bootId: bootId() ?? '', startTime: readProcess(pid)?.startTime ?? null, socket, address: null },
      ...{ startedAt: new Date().toISOString(), program: '0.0.0' },
    }
    writeFileSync(join(folder, 'service.json'), JSON.stringify(named), { mode: 0o600 })
    return service
  }

  /** The events that were taken, in order. */
  get events(): readonly string[] {
    return [...this.taken.values()].map(({ event }) => event)
  }

  /** Takes what lies in the spool, as the real one does at its start and now and then. */
  takeSpool(): void {
    const spool = join(this.folder, 'spool')
    for (const name of existsSync(spool) ? readdirSync(spool).sort() : []) {
      if (!name.endsWith('.json')) continue
      const post = JSON.parse(readFileSync(join(spool, name), 'utf8')) as HookPost
      if (!this.taken.has(post.commandId)) this.taken.set(post.commandId, post)
      rmSync(join(spool, name))
    }
  }

  /** Writes a session's card. */
  card(session: string, card: Readonly<Record<string, unknown>>): void {
    writeCard(this.folder, session, card)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
    rmSync(join(this.folder, 'service.json'), { force: true })
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
    let text = ''
    for await (const chunk of request.setEncoding('utf8')) text += chunk
    if (request.method !== 'POST' || request.url !== '/hooks/events') return response.writeHead(404).end('{}')
    const post = JSON.parse(text) as HookPost
    if (request.headers.authorization !== `Bearer ${this.#tokenOf(String(post.payload.session_id))}`) {
      this.refused += 1
      return response.writeHead(401).end('{"error":{"code":"token.wrong","message":"No."}}')
    }
    this.requests.push(post)
    return this.#say(post, response)
  }

  #say(post: HookPost, response: ServerResponse): unknown {
    const { manner } = this
    if (manner === 'silent') return undefined
    if (manner === 'refuses') return response.writeHead(503).end('{}')
    if (manner === 'redirects') return response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end()
    if (manner === 'hangs up') return response.destroy()
    this.taken.set(post.commandId, post)
    if (manner === 'garbage') return response.end('\u0000<html>{"signals":')
    if (manner === 'list') return response.end('[1,2,3]')
    if (manner === 'oversized') return response.end(`{"inject":"${'x'.repeat(3_000_000)}"}`)
    if (manner === 'broken')
      return response.writeHead(200, { 'content-length': 500 }).write('{"inj') && response.destroy()
    const { signals = [], inject = null, notice = null } = this.answer(post)
    const full = signals.map((signal) => ({ kind: 'milestone', milestone: 'warning', delivery: 'urgent', ...signal }))
    return response
      .setHeader('content-type', 'application/json')
      .end(JSON.stringify({ outcome: 'ok', session_id: null, signals: full, inject, notice }))
  }

  #tokenOf(session: string): string {
    const master = readFileSync(join(this.folder, 'service.token'), 'utf8')
    return createHmac('sha256', master).update(`session:${session}`).digest('hex')
  }
}

/** Writes a session's card as the service does. */
export const writeCard = (folder: string, session: string, card: Readonly<Record<string, unknown>>): void => {
  mkdirSync(join(folder, 'sessions'), { recursive: true, mode: 0o700 })
  const whole = {
    v: 1,
    milestones: [],
    level: { state: 'unknown' },
    restarts: 0,
    costUsd: null,
    notices: [],
    afterCompaction: null,
  }
  writeFileSync(join(folder, 'sessions', `${session}.json`), JSON.stringify({ ...whole, ...card }), { mode: 0o600 })
}
