import { request } from 'node:http'
import { codeOf, ownFolder } from './own-files.ts'
import { isRecord } from './read-input.ts'
import { masterAddress } from './service-address.ts'
import { type ServiceStart, startService } from './start-service.ts'

/** A question to the service. */
export interface ServiceQuestion {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly body?: Readonly<Record<string, unknown>>
}

/** The answer of the service: JSON, whatever its status. */
export interface ServiceReply {
  readonly status: number
  readonly json: Readonly<Record<string, unknown>>
}

/** The service could not be asked. */
export class NoService extends Error {
  override readonly name = 'NoService'
}

/** So long a person waits for a service that starts. */
const STARTING_MS = 60_000
const LOOK_AGAIN_MS = 100
const ANSWER_MS = 120_000

/** Asks the service as the person whose service it is. Unlike a hook it waits, and a service that is not there is started first. */
export const askService = async (
  start: ServiceStart,
  question: ServiceQuestion,
  startingMs: number = STARTING_MS,
): Promise<ServiceReply> => {
  ownFolder(start.folder)
  const began = Date.now()
  for (let isFirst = true; ; isFirst = false) {
    const reply = await replyOf(start.folder, question)
    if (reply !== undefined) return reply
    if (isFirst) await startService(start)
    if (Date.now() - began > startingMs)
      throw new NoService(`The service did not start in time. ${start.folder}/service.log says more.`)
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS))
  }
}

/** Absent where nobody listens. */
const replyOf = (folder: string, { method, path, body }: ServiceQuestion): Promise<ServiceReply | undefined> => {
  const address = masterAddress(folder)
  if (address === undefined) return Promise.resolve(undefined)
  const { port, token } = address
  const sent = body === undefined ? undefined : Buffer.from(JSON.stringify(body))
  const headers = {
    authorization: `Bearer ${token}`,
    ...(sent !== undefined && { 'content-type': 'application/json', 'content-length': sent.length }),
    connection: 'close',
  }
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, method, path, headers, agent: false, timeout: ANSWER_MS }
    const asking = request(options, (response) => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part))
      response.once('error', reject)
      response.once('end', () => {
        const json = jsonIn(Buffer.concat(parts).toString('utf8'))
        if (json === undefined) reject(new NoService('The service answered something that is not JSON.'))
        else resolve({ status: response.statusCode ?? 0, json })
      })
    })
    asking.once('timeout', () => asking.destroy(new NoService('The service does not answer.')))
    asking.once('error', (problem) => (codeOf(problem) === 'ECONNREFUSED' ? resolve(undefined) : reject(problem)))
    asking.end(sent)
  })
}

const jsonIn = (text: string): Readonly<Record<string, unknown>> | undefined => {
  try {
    const json: unknown = JSON.parse(text)
    return isRecord(json) ? json : undefined
  } catch {
    return undefined
  }
}
