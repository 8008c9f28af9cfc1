import { get } from 'node:http'
import { join } from 'node:path'
import { isTaken } from '../../processes/process-table.ts'
import { isRecord, jsonIn, readSmallFile } from './small-file.ts'

/** The facts that a service writes down about itself. */
export interface ServiceFacts {
  readonly pid: number
  readonly port: number
  readonly startedAt?: string
  /** The version of the program. */
  readonly program?: string
}

/** Whether a service runs for a folder, as far as its file and its port tell. */
export type ServiceState =
  | { readonly state: 'none' }
  | ({ readonly state: 'runs' } & ServiceFacts)
  /** Its process has ended and could not remove the file. */
  | ({ readonly state: 'gone' } & ServiceFacts)
  /** Its process is there and does not answer. */
  | ({ readonly state: 'silent' } & ServiceFacts)
  /** The file says nothing that could be used. */
  | { readonly state: 'unreadable'; readonly why: string }

/** How long a service may take to say that it lives. */
const PATIENCE_MS = 1_500

/** Looks for the service of a folder, and asks it whether it lives. */
export const findService = async (folder: string): Promise<ServiceState> => {
  const found = readSmallFile(join(folder, 'service.json'))
  if (found.state === 'missing') return { state: 'none' }
  if (found.state === 'unreadable') return found
  const facts = factsIn(found.text)
  if (facts === undefined) return { state: 'unreadable', why: 'it does not name a process and a port' }
  const answer = await health(facts.port)
  // Another program may have the port by now, and another process the pid.
  if (answer === facts.pid) return { state: 'runs', ...facts }
  return { state: answer === undefined && isTaken(facts.pid) ? 'silent' : 'gone', ...facts }
}

const factsIn = (text: string): ServiceFacts | undefined => {
  const json = jsonIn(text)
  if (!isRecord(json)) return undefined
  const { pid, port, startedAt, program } = json
  if (!isWhole(pid, 2 ** 31) || !isWhole(port, 65_535)) return undefined
  return {
    pid,
    port,
    ...(typeof startedAt === 'string' && !Number.isNaN(Date.parse(startedAt)) && { startedAt }),
    ...(typeof program === 'string' && { program: program.slice(0, 64) }),
  }
}

const isWhole = (value: unknown, most: number): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= most

/** The pid that answers on a port: nothing where none does in time, and -1 where something else answers or nobody listens. */
const health = (port: number): Promise<number | undefined> =>
  new Promise((resolve) => {
    const request = get({ host: '127.0.0.1', port, path: '/health', timeout: PATIENCE_MS, agent: false }, (answer) => {
      let text = ''
      answer.setEncoding('utf8')
      answer.on('data', (chunk: string) => {
        text += chunk
        if (text.length > 4_096) request.destroy()
      })
      answer.on('end', () => {
        const json = jsonIn(text)
        resolve(isRecord(json) && typeof json.pid === 'number' ? json.pid : -1)
      })
    })
    const giveUp = setTimeout(() => {
      resolve(undefined)
      request.destroy()
    }, PATIENCE_MS)
    request.on('timeout', () => request.destroy())
    request.on('close', () => {
      clearTimeout(giveUp)
      resolve(undefined)
    })
    request.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code === 'ECONNREFUSED' ? -1 : undefined))
  })
