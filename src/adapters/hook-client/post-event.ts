import type { RequestOptions } from 'node:http'
import { isRecord } from '../../domain/kernel/record.ts'
import type { HookPost, HookReply, SignalPost, Unread } from '../../ports/terminal/wire.ts'
import { codeOf } from '../files/own-files.ts'
import { afterAtMost } from './budget.ts'
import { type ServiceAddress, tokenFor } from './service-address.ts'
import { Unproven, wayToService } from './way-to-service.ts'

/** One signal, as far as a hook passes it on. */
export type HookSignal = Pick<SignalPost, 'id' | 'text' | 'for'>

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

/** Sends an event of a session, and waits for the answer for no longer than this. */
export const postEvent = async (
  address: ServiceAddress,
  session: string,
  post: HookPost,
  ms: number,
): Promise<Posted> => {
  const began = performance.now()
  try {
    const way = await wayToService(address, ms)
    const { request } = await import('node:http')
    const body = Buffer.from(JSON.stringify(post))
    const headers = headersOf(tokenFor(address, session), body.length)
    const options = { ...way, method: 'POST', path: '/hooks/events', headers }
    return await sent(request, options, body, Math.max(0, ms - (performance.now() - began)))
  } catch (problem) {
    return failedBy(problem)
  }
}

const failed = (problem: string): Posted => ({ state: 'failed', problem: `the service ${problem}` })

/** A socket without a process behind it, or one that is just being taken away, is no service. */
export const NOBODY_LISTENS: readonly string[] = ['ECONNREFUSED', 'ENOENT']

const failedBy = (problem: unknown): Posted => {
  if (NOBODY_LISTENS.includes(codeOf(problem))) return { state: 'absent' }
  if (problem instanceof Unproven) return failed(`was sent nothing: ${problem.message}`)
  return failed(`could not be asked (${codeOf(problem)})`)
}

const sent = (
  request: typeof import('node:http').request,
  options: RequestOptions,
  body: Buffer,
  ms: number,
): Promise<Posted> =>
  new Promise((resolve) => {
    const end = (posted: Posted): void => {
      clearTimeout(timer)
      sending.destroy()
      resolve(posted)
    }
    const fail = (problem: string): void => end(failed(problem))
    const sending = request(options, (response) => {
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
    sending.on('error', (problem) => end(failedBy(problem)))
    sending.end(body)
  })

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

const answerOf = ({ signals, inject, notice }: Unread<HookReply>): ServiceAnswer => ({
  signals: (Array.isArray(signals) ? signals : []).slice(0, MOST_SIGNALS).flatMap(signalOf),
  inject: typeof inject === 'string' && inject !== '' ? inject : undefined,
  notice: typeof notice === 'string' && notice !== '' ? notice : undefined,
})

const signalOf = (signal: unknown): readonly HookSignal[] => {
  if (!isRecord(signal)) return []
  const { id, text, for: whom }: Unread<SignalPost> = signal
  if (typeof id !== 'string' || typeof text !== 'string' || text === '') return []
  return whom === 'agent' || whom === 'person' ? [{ id, text, for: whom }] : []
}
