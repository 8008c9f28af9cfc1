import { join } from 'node:path'
import { bootId, isTaken, readProcess } from '../../processes/process-table.ts'
import { mustBeOwnFolder, NotOwn, readOwnFile } from '../files/own-files.ts'
import { isRecord, jsonIn } from './small-file.ts'

/** The facts that a service writes down about itself. */
export interface ServiceFacts {
  readonly pid: number
  /** Where it listens: its socket, and its port if it has one. */
  readonly socket?: string
  readonly port?: number
  readonly startedAt?: string
  /** The version of the program. */
  readonly program?: string
}

/** Whether a service runs for a folder, as far as its file and its answer tell. */
export type ServiceState =
  | { readonly state: 'none' }
  | ({ readonly state: 'runs' } & ServiceFacts)
  /** Its process has ended and could not remove the file. */
  | ({ readonly state: 'gone' } & ServiceFacts)
  /** Its process is there and does not answer. */
  | ({ readonly state: 'silent' } & ServiceFacts)
  /** It is of an older version, which this one does not speak to: it proves nothing before it is sent a token. */
  | ({ readonly state: 'older' } & ServiceFacts)
  /** The file says nothing that could be used. */
  | { readonly state: 'unreadable'; readonly why: string }

/**
 * Asks the service of a folder how it is, as its own clients do: over its socket, or after a proof.
 *
 * @returns the process that answers; nothing where nobody listens @throws where it cannot be asked
 */
export type AskHealth = (folder: string) => Promise<{ readonly pid?: unknown } | undefined>

const MOST_BYTES = 4_096

/** Looks for the service of a folder, and asks it whether it lives. */
export const findService = async (folder: string, ask: AskHealth): Promise<ServiceState> => {
  const found = fileIn(folder)
  if (found.state !== 'read') return found
  const json = jsonIn(found.text)
  const facts = factsIn(folder, json)
  if (facts === undefined) return { state: 'unreadable', why: 'it does not name a process and where it listens' }
  if (isRecord(json) && json.v === 1) return { state: isTaken(facts.pid) ? 'older' : 'gone', ...facts }
  const answer = await ask(folder).then(
    (health) => ({ pid: health?.pid }),
    () => undefined,
  )
  // Another program may have the port by now, and another process the pid.
  if (answer?.pid === facts.pid) return { state: 'runs', ...facts }
  return { state: answer === undefined && isSame(facts.pid, json) ? 'silent' : 'gone', ...facts }
}

type FoundText =
  | { readonly state: 'none' }
  | { readonly state: 'unreadable'; readonly why: string }
  | { readonly state: 'read'; readonly text: string }

const fileIn = (folder: string): FoundText => {
  try {
    const text = readOwnFile(join(folder, 'service.json'), MOST_BYTES)
    if (text === undefined) return { state: 'none' }
    mustBeOwnFolder(folder)
    return { state: 'read', text }
  } catch (error) {
    const { code = 'unknown', message } = error as NodeJS.ErrnoException
    if (code === 'ENOTDIR') return { state: 'none' }
    return { state: 'unreadable', why: error instanceof NotOwn ? message : `it cannot be read (${code})` }
  }
}

const factsIn = (folder: string, json: unknown): ServiceFacts | undefined => {
  if (!isRecord(json)) return undefined
  const { pid, socket, address, startedAt, program } = json
  const port = json.v === 1 ? json.port : isRecord(address) ? address.port : undefined
  const isThere = isWhole(port, 65_535) || (typeof socket === 'string' && socket !== '')
  if (!isWhole(pid, 2 ** 31) || !isThere) return undefined
  return {
    pid,
    ...(typeof socket === 'string' && { socket: socket.startsWith('/') ? socket : join(folder, socket) }),
    ...(isWhole(port, 65_535) && { port }),
    ...(typeof startedAt === 'string' && !Number.isNaN(Date.parse(startedAt)) && { startedAt }),
    ...(typeof program === 'string' && { program: program.slice(0, 64) }),
  }
}

const isWhole = (value: unknown, most: number): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= most

/** Whether the very process that wrote the file is there. Where the system does not tell, a process with that number is. */
const isSame = (pid: number, json: unknown): boolean => {
  if (!isRecord(json) || json.bootId !== (bootId() ?? '')) return false
  const found = readProcess(pid)
  return found === undefined ? isTaken(pid) : !found.isZombie && found.startTime === json.startTime
}

/** Where a service listens, for a person. */
export const placeOf = ({ socket, port }: ServiceFacts): string =>
  [...(socket === undefined ? [] : [socket]), ...(port === undefined ? [] : [`port ${port}`])].join(' and ')
