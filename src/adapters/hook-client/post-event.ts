import { afterAtMost } from './budget.ts'
import type { HookPost } from './hook-events.ts'
import { codeOf } from './own-files.ts'
import { isRecord } from './read-input.ts'
import type { ServiceAddress } from './service-address.ts'

/** One signal, as far as a hook passes it on. */
export interface HookSignal {
  readonly id: string
  readonly text: string
  readonly for: 'agent' | 'person'
}

/** The service's reply to an event. */
export interface ServiceAnswer {
  readonly signals: readonly HookSignal[]
  readonly inject: string | undefined
  /** A sentence for the person. */
  readonly notice: string | undefined
}

/** How the sending of an event ended. */
export type Posted =
  | { readonly state: 'taken'; readonly answer: ServiceAnswer }
  /** Nobody listens there. */
  | { readonly state: 'absent' }
  /** Whether the service has it is not known, or it said no. */
  | { readonly state: 'failed'; readonly problem: string }

const MOST_BYTES = 1024 * 1024
const MOST_SIGNALS = 50

/** Sends an event, and waits for the answer for no longer than this. */
export const postEvent = async ({ port, token }: ServiceAddress, post: HookPost, ms: number): Promise<Posted> => {
  const { request } = await import('node:http')
  return new Promise((resolve) => {
    const body = Buffer.from(JSON.stringify(post))
    const end = (posted: Posted): void => {
      clearTimeout(timer)
      sending.destroy()
      resolve(posted)
    }
    const fail = (problem: string): void => end({ state: 'failed', problem: `the service ${problem}` })
    const sending = request({ ...TO_THE_SERVICE, port, headers: headersOf(token, body.length) }, (response) => {
      const chunks: Buffer[] = []
      let size = 0
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk)
        size += chunk.length
        if (size > MOST_BYTES) fail('answered more than 1 MiB')
      })
      response.once('error', (problem) => fail(`broke off its answer (${codeOf(problem)})`))
      response.once('end', () => end(readAnswer(response.statusCode ?? 0, Buffer.concat(chunks).toString('utf8'))))
    })
    const timer = afterAtMost(ms, () => fail('did not answer in time'))
    sending.on('error', (problem) => {
      if (codeOf(problem) === 'ECONNREFUSED') end({ state: 'absent' })
      else fail(`could not be asked (${codeOf(problem)})`)
    })
    sending.end(body)
  })
}

const TO_THE_SERVICE = { host: '127.0.0.1', method: 'POST', path: '/hooks/events', agent: false } as const

const headersOf = (token: string, length: number): Readonly<Record<string, string | number>> => ({
  authorization: `Bearer ${token}`,
  'content-type': 'application/json',
  'content-length': length,
  connection: 'close',
})

const readAnswer = (status: number, text: string): Posted => {
  if (status < 200 || status > 299) return { state: 'failed', problem: `the service answered with ${status}` }
  try {
    const answer: unknown = JSON.parse(text)
    if (isRecord(answer)) return { state: 'taken', answer: answerOf(answer) }
  } catch {
    // said below
  }
  return { state: 'failed', problem: 'the service answered something that is not JSON' }
}

const answerOf = ({ signals, inject, notice }: Readonly<Record<string, unknown>>): ServiceAnswer => ({
  signals: (Array.isArray(signals) ? signals : []).slice(0, MOST_SIGNALS).flatMap(signalOf),
  inject: typeof inject === 'string' && inject !== '' ? inject : undefined,
  notice: typeof notice === 'string' && notice !== '' ? notice : undefined,
})

const signalOf = (signal: unknown): readonly HookSignal[] => {
  if (!isRecord(signal)) return []
  const { id, text, for: whom } = signal
  if (typeof id !== 'string' || typeof text !== 'string' || text === '') return []
  return whom === 'agent' || whom === 'person' ? [{ id, text, for: whom }] : []
}
