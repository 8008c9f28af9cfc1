import { request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { err, ok, type Result } from '../../domain/kernel/result.ts'
import type { HandoffDesk, HandoffSent, HandoffTaken } from './handoff-tool.ts'
import type { ToolRefusal } from './tool.ts'

/** The way to the service of a folder. */
export interface ServiceWay {
  /** Where it listens, and the token of one session; absent where none runs. @throws where its files cannot be read */
  address(providerSessionId: string): { readonly port: number; readonly token: string } | undefined
  /** Starts one, unless somebody just did. */
  start(): Promise<unknown>
}

/** A service on a busy machine needs its time: it opens the store before it listens. */
const WAKE_MS = 60_000
const LOOK_EVERY_MS = 100
const ANSWER_MS = 60_000
const MOST_BYTES = 1024 * 1024

const taken = z.looseObject({ status: z.string().max(100), path: z.string().max(4_096).nullish() })
const problem = z.looseObject({ error: z.looseObject({ code: z.string().max(100), message: z.string().max(4_000) }) })

/** The service over HTTP, with the token of the session that hands off. */
export const serviceDesk = (way: ServiceWay, wakeMs: number = WAKE_MS): HandoffDesk => ({
  wake: async () => {
    if (way.address('') !== undefined) return true
    await way.start()
    for (const end = performance.now() + wakeMs; performance.now() < end; await pause(LOOK_EVERY_MS))
      if (way.address('') !== undefined) return true
    return false
  },
  send: async (providerSessionId, handoff) => {
    const address = way.address(providerSessionId)
    if (address === undefined) return err(LOST)
    const path = `/sessions/${encodeURIComponent(providerSessionId)}/handoff`
    return answerIn(await posted({ ...address, path }, handoff))
  },
})

const LOST: ToolRefusal = { code: 'service.absent', message: 'The service of Batonpass has just ended. Ask again.' }

interface Address {
  readonly port: number
  readonly token: string
  readonly path: string
}

const posted = ({ port, token, path }: Address, handoff: HandoffSent): Promise<string> =>
  new Promise((resolve, reject) => {
    const body = Buffer.from(JSON.stringify(handoff))
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-length': body.length,
      connection: 'close',
    }
    const to = { host: '127.0.0.1', port, path, method: 'POST', agent: false, headers } as const
    const sending = request({ ...to, signal: AbortSignal.timeout(ANSWER_MS) }, async (response) => {
      const parts: Buffer[] = []
      let size = 0
      try {
        for await (const part of response as AsyncIterable<Buffer>) {
          size += part.length
          if (size > MOST_BYTES) throw new Error('The service answered more than 1 MiB')
          parts.push(part)
        }
        resolve(Buffer.concat(parts).toString('utf8'))
      } catch (error) {
        reject(error)
      }
    })
    sending.once('error', reject)
    sending.end(body)
  })

const answerIn = (text: string): Result<HandoffTaken, ToolRefusal> => {
  const answer: unknown = JSON.parse(text)
  const refusal = problem.safeParse(answer).data?.error
  if (refusal !== undefined) return err({ code: refusal.code, message: refusal.message })
  const { status, path } = taken.parse(answer)
  return ok({ status, ...(path != null && { path }) })
}
