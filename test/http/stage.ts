import { createHmac, randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type IncomingHttpHeaders, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MemoryStore } from '../../src/adapters/memory/memory-store.ts'
import { systemClock } from '../../src/adapters/system/system-clock.ts'
import { type ServeOptions, type Service, serve } from '../../src/main/serve.ts'
import type { Store } from '../../src/ports/store/store.ts'

/** Anything that JSON may hold, for tests that look into it. */
export interface Loose {
  readonly [key: string]: Loose
}

/** The answer to a request. */
export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly json: Loose
}

interface Asked {
  readonly token?: string | null
  readonly body?: unknown
  readonly text?: string | Buffer
  readonly headers?: Readonly<Record<string, string>>
}

/** A service on a store in memory, in this process. */
export class ServiceStage {
  readonly folder: string
  readonly home = mkdtempSync(join(tmpdir(), 'home-'))
  readonly service: Service
  readonly store: Store

  private constructor(folder: string, service: Service, store: Store) {
    this.folder = folder
    this.service = service
    this.store = store
  }

  static async open(options: Partial<ServeOptions> = {}): Promise<ServiceStage> {
    const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'service-'))
    const store = new MemoryStore({ clock: systemClock })
    // Lent: a service closes its store, and a test looks into it afterwards.
    const lent = { ...store, [Symbol.asyncDispose]: async () => {} }
    const service = await serve({ store: lent, port: 0, ...options, folder })
    return new ServiceStage(folder, service, store)
  }

  /** The port that was asked for. */
  get port(): number {
    return this.service.port ?? 0
  }

  get master(): string {
    return readFileSync(join(this.folder, 'service.token'), 'utf8').trim()
  }

  tokenOf(session: string): string {
    return createHmac('sha256', this.master).update(`session:${session}`).digest('hex')
  }

  /** Asks with the master token, unless another or none is given. */
  ask(method: string, path: string, { token = this.master, body, text, headers = {} }: Asked = {}): Promise<Answer> {
    const { port } = this
    const sent = text ?? (body === undefined ? undefined : JSON.stringify(body))
    const all = {
      ...(token !== null && { authorization: `Bearer ${token}` }),
      ...(sent !== undefined && {
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(sent)),
      }),
      ...headers,
    }
    return new Promise((resolve, reject) => {
      const asking = request({ port, host: '127.0.0.1', method, path, headers: all, agent: false }, (answer) => {
        const parts: Buffer[] = []
        answer.on('data', (part: Buffer) => parts.push(part))
        answer.on('error', reject)
        answer.on('end', () => {
          const said = Buffer.concat(parts).toString()
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text: said, json: jsonIn(said) })
        })
      })
      asking.on('error', reject)
      asking.end(sent)
    })
  }

  /** A hook of a session reports, with that session's token. */
  hook(session: string, event: string, payload: object = {}, more: object = {}): Promise<Answer> {
    const body = {
      ...{ v: 1, commandId: randomUUID(), at: new Date().toISOString(), event, runtime: 'claude' },
      payload: { session_id: session, ...payload },
      ...more,
    }
    return this.ask('POST', '/hooks/events', { token: this.tokenOf(session), body })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.service.stop()
    for (const folder of [this.folder, this.home]) rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  }
}

const jsonIn = (text: string): Loose => {
  try {
    return JSON.parse(text) as Loose
  } catch {
    return {}
  }
}

/** The window of a status line that is so full. */
export const windowAt = (percent: number) => ({
  context_window: { context_window_size: 200_000, used_percentage: percent, current_usage: null },
})
