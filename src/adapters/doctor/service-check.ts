import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { isRecord } from '../../domain/kernel/record.ts'
import type { Finding } from '../../ports/system/health-check.ts'
import { bootId, isTaken, readProcess } from '../../processes/process-table.ts'
import { quoted } from '../../processes/quoted.ts'
import { mustBeOwnFolder, NotOwn, readOwnFile } from '../files/own-files.ts'
import { jsonIn } from './small-file.ts'

/** Whether the service runs, and is the one of this program. */
export const serviceRuns = async (folder: string, program: string, ask: AskHealth): Promise<readonly Finding[]> => [
  ...(await running(folder, program, ask)),
  ...tokenRights(folder),
]

const running = async (folder: string, program: string, ask: AskHealth): Promise<readonly Finding[]> => {
  const file = join(folder, 'service.json')
  const found = await findService(folder, ask)
  switch (found.state) {
    case 'none':
      return [{ result: 'ok', text: 'none runs; the hooks start one when they need it' }]
    case 'runs': {
      const text = `process ${found.pid} answers on ${placeOf(found)}`
      if (found.program === undefined || found.program === program) return [{ result: 'ok', text }]
      const repair = `End it, and the hooks start the new one: kill ${found.pid}`
      return [{ result: 'warning', text: `${text}, and is Batonpass ${found.program}, not ${program}`, repair }]
    }
    case 'gone': {
      const text = `process ${found.pid} has ended and left ${file}; the next service replaces it`
      return [{ result: 'warning', text, repair: `Run "baton serve", or: rm ${quoted(file)}` }]
    }
    case 'silent': {
      const text = `process ${found.pid} is there and does not answer on ${placeOf(found)}`
      return [{ result: 'problem', text, repair: `Look at service.log in ${folder}; if it hangs: kill ${found.pid}` }]
    }
    case 'older': {
      const text = `process ${found.pid} may be a service of Batonpass ${found.program ?? 'of an older version'}, which is not asked: it cannot prove that it is the one`
      return [{ result: 'warning', text, repair: `End it, and the hooks start the new one: kill ${found.pid}` }]
    }
    case 'unreadable': {
      const text = `${file} is of no use: ${found.why}`
      return [{ result: 'warning', text, repair: `rm ${quoted(file)}` }]
    }
    default:
      return found satisfies never
  }
}

/** A user who can read the token of the service may speak for every session. */
const tokenRights = (folder: string): readonly Finding[] => {
  const path = join(folder, 'service.token')
  const found = lstatSync(path, { throwIfNoEntry: false })
  const me = process.getuid?.()
  if (found === undefined || me === undefined) return []
  if (found.uid !== me)
    return [
      {
        result: 'problem',
        text: `${path} belongs to another user (uid ${found.uid})`,
        repair: `Remove it, and a new one is made: rm ${quoted(path)}`,
      },
    ]
  if ((found.mode & 0o077) === 0) return []
  const text = `${path} is open to other users (mode ${(found.mode & 0o777).toString(8)})`
  return [{ result: 'problem', text, repair: `Others may have read it. End the service, and: rm ${quoted(path)}` }]
}

/** The facts that a service writes down about itself. */
interface ServiceFacts {
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
const placeOf = ({ socket, port }: ServiceFacts): string =>
  [...(socket === undefined ? [] : [socket]), ...(port === undefined ? [] : [`port ${port}`])].join(' and ')
