import { request } from 'node:http'
import { isRecord } from '../../domain/kernel/record.ts'
import { codeOf, NotOwn, ownStoreFolder } from '../files/own-files.ts'
import { NOBODY_LISTENS } from './post-event.ts'
import { type ServiceAddress, serviceAddress, tokenFor } from './service-address.ts'
import { type ServiceStart, type StartedService, startService } from './start-service.ts'
import { Unproven, wayToService } from './way-to-service.ts'

/** A question to the service. */
export interface ServiceQuestion {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly body?: Readonly<Record<string, unknown>>
  /** Asks with the token of this session only, by the runtime's name of it; with the one of the person unless given. */
  readonly as?: string
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
/** A service that found another one on its folder has ended well. If that one ends too, one more is started after this. */
const START_AGAIN_MS = 3_000
const ANSWER_MS = 120_000
const MOST_BYTES = 64 * 1024 * 1024

/**
 * Asks the service as the person whose service it is. Unlike a hook it waits, and a service that is not there is started
 * first, however lately another one was. It gives up once the one that it started has failed.
 *
 * @throws NoService where none could be asked
 */
export const askService = async (
  start: ServiceStart,
  question: ServiceQuestion,
  startingMs: number = STARTING_MS,
): Promise<ServiceReply> => {
  mustBeOurs(start.folder)
  const until = performance.now() + startingMs
  let starting: Starting | undefined
  for (;;) {
    const reply = await askRunningService(start.folder, question)
    if (reply !== undefined) return reply
    starting = await stillStarting(start, starting)
    if (performance.now() > until)
      throw new NoService(`The service did not start in time. ${start.folder}/service.log says more.`)
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS))
  }
}

const mustBeOurs = (folder: string): void => {
  try {
    ownStoreFolder(folder)
  } catch (cause) {
    if (cause instanceof NotOwn) throw new NoService(cause.message, { cause })
    throw cause
  }
}

interface Starting {
  readonly service: StartedService | undefined
  readonly at: number
}

/** Starts a service, unless the last one that was started is still at it. @throws NoService where that one has failed */
const stillStarting = async (start: ServiceStart, starting: Starting | undefined): Promise<Starting> => {
  const status = starting?.service?.ended()
  if (status !== undefined && status !== 0)
    throw new NoService(
      `The service could not be started (exit status ${status}). ${start.folder}/service.log says why.`,
    )
  const isUnderWay =
    starting !== undefined && (status === undefined || performance.now() - starting.at < START_AGAIN_MS)
  if (isUnderWay) return starting
  return { service: await startService(start, { isAsked: true }), at: performance.now() }
}

/**
 * Asks the service that runs. Absent where none does: nothing was sent then.
 *
 * @throws NoService where it cannot be asked
 */
export const askRunningService = async (
  folder: string,
  question: ServiceQuestion,
  ms: number = ANSWER_MS,
): Promise<ServiceReply | undefined> => {
  try {
    const address = serviceAddress(folder)
    return address && (await replyFrom(address, question, ms))
  } catch (cause) {
    if (NOBODY_LISTENS.includes(codeOf(cause))) return undefined
    if (cause instanceof NoService) throw cause
    const why =
      cause instanceof Unproven ? `Nothing was sent to the server at its address: ${cause.message}` : codeOf(cause)
    throw new NoService(`The service of ${folder} cannot be asked. ${why}. "baton doctor" says more.`, { cause })
  }
}

const replyFrom = async (address: ServiceAddress, question: ServiceQuestion, ms: number): Promise<ServiceReply> => {
  const { method, path, body, as } = question
  const sent = body === undefined ? undefined : Buffer.from(JSON.stringify(body))
  const headers = {
    authorization: `Bearer ${tokenFor(address, as)}`,
    ...(sent !== undefined && { 'content-type': 'application/json', 'content-length': sent.length }),
    connection: 'close',
  }
  const way = await wayToService(address, ms)
  return new Promise((resolve, reject) => {
    const asking = request({ ...way, method, path, headers, timeout: ms }, (response) => {
      const parts: Buffer[] = []
      let size = 0
      response.on('data', (part: Buffer) => {
        parts.push(part)
        size += part.length
        if (size > MOST_BYTES) asking.destroy(new NoService('The service answered more than can be read.'))
      })
      response.once('error', reject)
      response.once('end', () => {
        const json = jsonIn(Buffer.concat(parts).toString('utf8'))
        if (json === undefined) reject(new NoService('The service answered something that is not JSON.'))
        else resolve({ status: response.statusCode ?? 0, json })
      })
    })
    asking.once('timeout', () => asking.destroy(new NoService('The service does not answer.')))
    asking.once('error', reject)
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
