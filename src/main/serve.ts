import { readFileSync } from 'node:fs'
import { type App, appOf } from '../adapters/http/app.ts'
import type { EventStreamOptions } from '../adapters/http/event-stream.ts'
import { isKeptHandoff, takeKeptHandoff } from '../adapters/http/handlers.ts'
import { HttpProblem } from '../adapters/http/http-problem.ts'
import {
  type Answering,
  type HttpTimeouts,
  LOOPBACK,
  listenOnPort,
  listenOnSocket,
} from '../adapters/http/http-server.ts'
import { hookEventsOf } from '../adapters/http/request-bodies.ts'
import type { StrangerLimits } from '../adapters/http/strangers.ts'
import { homeStore } from '../adapters/place/home-folder.ts'
import { takeProvenLock } from '../adapters/postgres/embedded/pglite-proven-lock.ts'
import { IdleWatch } from '../adapters/terminal/idle-watch.ts'
import { masterToken, readRunning, removeRunning, writeRunning } from '../adapters/terminal/service-files.ts'
import { lockService } from '../adapters/terminal/service-lock.ts'
import { removeLeftSockets, type SocketPlace, socketPlaces } from '../adapters/terminal/service-socket.ts'
import { type Deliver, Spool } from '../adapters/terminal/spooled-events.ts'
import { defined } from '../domain/kernel/defined.ts'
import { describeThrown } from '../domain/kernel/describe-thrown.ts'
import { RefusedError } from '../domain/unwrap.ts'
import { StoreFailure } from '../ports/store/store-failure.ts'
import type { Environment } from '../ports/system/environment.ts'
import { type Logger, silentLogger } from '../ports/system/logger.ts'
import { bootId, readProcess } from '../processes/process-table.ts'
import { redactedLogger, safeLogger } from '../services/commands/safe-logger.ts'
import { openStore } from './open-store.ts'
import type { StoreOptions } from './options.ts'
import { hiddenAccount, redactionIn, redactorFor, writeRules } from './redaction.ts'
import { TERMINAL_AGENTS } from './runtimes.ts'
import { type Terminals, terminalsOn } from './terminals.ts'

/** How a service is run. */
export interface ServeOptions extends StoreOptions {
  /** The folder of the service: its token, its spool, the cards of sessions. */
  readonly folder: string
  /** The port to listen on as well; 0 lets the system choose. None unless given, or where no socket can be made. */
  readonly port?: number
  /** End by itself once nobody has used it for so long; never unless given. */
  readonly idleMs?: number
  /** Says where runtimes keep their transcripts; the environment of this process unless given. */
  readonly environment?: Environment
  readonly logger?: Logger
  readonly timeouts?: HttpTimeouts
  /** How many connections at the port may be without a token, and for how long. */
  readonly strangers?: StrangerLimits
  readonly events?: EventStreamOptions
}

/** A service that runs. */
export interface Service {
  /** The socket that hooks and commands speak over; absent where none could be made. */
  readonly socket?: string
  /** The port, where one was asked for, or where there is no socket. */
  readonly port?: number
  readonly pid: number
  /** Settles once it has ended, by itself or because it was stopped. */
  readonly ended: Promise<void>
  /** Finishes what is under way and ends. */
  stop(): Promise<void>
}

const AGENT_NAMES = TERMINAL_AGENTS.map(({ name }) => name)

/** How often the spool is looked at, and how old a file must be: a younger one is still on its way by itself. */
const SPOOL_MS = 2_000
/** How often documents are looked at that have waited long enough. */
const SWEEP_MS = 3_600_000
/** How often the processes of agents are looked for: a terminal that is closed says nothing. */
const GONE_MS = 30_000

const { version: program } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  readonly version: string
}

/**
 * Runs the service of a folder: opens the store, takes the spool, and listens on a socket in a private folder, and on a port
 * of the loopback address if that is asked for.
 *
 * @throws AlreadyServed when another process is the service of that folder
 * @throws NotOwn when the folder is another user's
 */
export const serve = async (options: ServeOptions): Promise<Service> => {
  const undo: Undo = []
  const undoAll = async (): Promise<void> => {
    for (const step of undo.splice(0).reverse()) await step()
  }
  try {
    return await begin(options, undo, undoAll)
  } catch (error) {
    await undoAll()
    throw error
  }
}

const begin = async (options: ServeOptions, undo: Undo, undoAll: () => Promise<void>): Promise<Service> => {
  const { folder, idleMs, environment } = options
  const given = safeLogger(options.logger ?? silentLogger)
  const redaction = await redactionIn(folder, homeStore(environment ?? process.env))
  const redactor = redactorFor(redaction, {
    ...defined({ environment }),
    onWithheld: (why) => given.warn({ why }, 'a text could not be looked through for secrets, and is withheld'),
  })
  const { redact } = redactor
  const logger = redactedLogger(given, redactor.redactAll)
  const lock = await lockService(folder, takeProvenLock)
  undo.push(() => lock.release())
  writeRules(folder, redaction)
  const master = await masterToken(folder)
  const store = await openStore(options)
  undo.push(() => store[Symbol.asyncDispose]())
  const onTaken = hiddenAccount(folder, redactor, (counts) => logger.info({ ...counts }, 'secrets were hidden'))
  const opened = await terminalsOn(defined({ store, folder, environment, logger, redact, onTaken }))
  undo.push(() => onTaken())
  undo.push(() => opened.close())
  const spool = await spoolFor(folder, opened, logger)
  undo.push(sweeping(spool, logger))
  undo.push(await lookingAfter(opened, logger))
  const machine = bootId() ?? ''
  const app = appFor(opened, spool, { ...options, logger, master, bootId: machine })
  const idle = idleMs === undefined ? undefined : new IdleWatch(idleMs, isIdle(app, opened, spool))
  const doors = await openDoors(watched(app, idle), options, undo)
  const pid = process.pid
  const running = {
    ...{ v: 2 as const, pid, bootId: machine, startTime: readProcess(pid)?.startTime ?? null },
    socket: doors.socket?.named ?? null,
    address: doors.port === undefined ? null : { host: LOOPBACK, port: doors.port },
    ...{ startedAt: new Date().toISOString(), program },
  }
  await writeRunning(folder, running)
  undo.push(() => removeRunning(folder, running))
  let stopping: Promise<void> | undefined
  let over: () => void = () => {}
  const ended = new Promise<void>((resolve) => {
    over = resolve
  })
  const stop = (): Promise<void> => (stopping ??= undoAll().finally(over))
  idle?.watch(() => void stop())
  undo.push(() => idle?.stop())
  return defined({ socket: doors.socket?.path, port: doors.port, pid, ended, stop })
}

const spoolFor = async (folder: string, { terminals, requests }: Terminals, logger: Logger): Promise<Spool> => {
  const hookEventIn = hookEventsOf(AGENT_NAMES)
  const take = async (json: unknown): Promise<unknown> =>
    isKeptHandoff(json) ? takeKeptHandoff(requests, json) : terminals.take(hookEventIn(json))
  const deliver: Deliver = async (text) => {
    try {
      await take(jsonIn(text))
      return 'taken'
    } catch (error) {
      const problem = describeThrown(error)
      if (error instanceof StoreFailure) throw error
      if (!(error instanceof HttpProblem || error instanceof RefusedError)) {
        logger.error({ problem }, 'a spooled event failed, and is tried again; the others are taken')
        return 'failed'
      }
      logger.warn({ problem }, 'a spooled event cannot be taken, and is put aside')
      return 'rejected'
    }
  }
  const spool = new Spool(folder, deliver, (path, problem) =>
    logger.warn({ path, problem }, 'a file in the spool cannot be read, and is left where it is'),
  )
  await spool.make()
  await spool.drain({ olderThanMs: 0 }).catch(warnLater(logger))
  return spool
}

const jsonIn = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const warnLater =
  (logger: Logger) =>
  (error: unknown): void =>
    logger.warn({ problem: describeThrown(error) }, 'the spool is taken later')

const sweeping = (spool: Spool, logger: Logger): (() => void) => {
  const timer = setInterval(() => void spool.drain({ olderThanMs: SPOOL_MS }).catch(warnLater(logger)), SPOOL_MS)
  return () => clearInterval(timer)
}

/** Finishes what an earlier service began, now that its events are taken, and looks again from time to time. */
const lookingAfter = async ({ terminals }: Terminals, logger: Logger): Promise<() => void> => {
  const sweep = (): Promise<void> =>
    terminals
      .sweep()
      .catch((error: unknown) => logger.warn({ problem: describeThrown(error) }, 'documents are looked at later'))
  await sweep()
  const endGone = (): Promise<void> =>
    terminals
      .endGone()
      .catch((error: unknown) => logger.warn({ problem: describeThrown(error) }, 'ended agents are looked for later'))
  const timers = [setInterval(() => void sweep(), SWEEP_MS), setInterval(() => void endGone(), GONE_MS)]
  return () => timers.forEach(clearInterval)
}

type AppOptions = Pick<ServeOptions, 'events'> & Pick<Parameters<typeof appOf>[0], 'logger' | 'master' | 'bootId'>

const appFor = (
  { terminals, requests, audit }: Terminals,
  spool: Spool,
  { logger, master, bootId, events }: AppOptions,
): App =>
  appOf({
    ...{ requests, agents: AGENT_NAMES, audit, logger, master, program, bootId },
    ...(events && { events }),
    take: async (event) => {
      // A session is not told again what it says it was told.
      if (event.event !== 'statusline') await spool.takeAcks(event.input.providerSessionId)
      return terminals.take(event)
    },
  })

const isIdle =
  ({ streams }: App, { terminals }: Terminals, spool: Spool) =>
  async (): Promise<boolean> =>
    streams.clients === 0 && !terminals.isBusy && (await spool.isEmpty())

/** The application, of which the watch is told whenever somebody with a token uses it. */
const watched = ({ hono, streams }: App, idle: IdleWatch | undefined): Answering => ({
  streams,
  fetch: (request, door) => {
    const trust = (): void => {
      idle?.used()
      door.trust()
    }
    return hono.fetch(request, { ...door, trust })
  },
})

export { NotOwn } from '../adapters/files/own-files.ts'
export { readRunning } from '../adapters/terminal/service-files.ts'
export { AlreadyServed } from '../adapters/terminal/service-lock.ts'

/** The steps that take back what was begun, the last one first. */
type Undo = (() => PromiseLike<void> | void)[]

/** Where a service is to listen. */
interface DoorOptions {
  readonly folder: string
  readonly port?: number
  readonly timeouts?: HttpTimeouts
  readonly strangers?: StrangerLimits
}

interface Doors {
  readonly socket?: SocketPlace
  readonly port?: number
}

/** A socket for hooks and commands, and a port for those who asked for one. Where no socket can be had, the port is for all. */
const openDoors = async (
  answering: Answering,
  { folder, port, timeouts, strangers }: DoorOptions,
  undo: Undo,
): Promise<Doors> => {
  removeLeftSockets(folder, (await readRunning(folder))?.socket)
  const socket = await openSocket(answering, { folder, timeouts }, undo)
  if (socket !== undefined && port === undefined) return { socket }
  const listening = await listenOnPort(answering, port ?? 0, timeouts, strangers)
  undo.push(() => listening.close())
  return defined({ socket, port: listening.port })
}

const openSocket = async (
  answering: Answering,
  { folder, timeouts }: { readonly folder: string; readonly timeouts: HttpTimeouts | undefined },
  undo: Undo,
): Promise<SocketPlace | undefined> => {
  for (const place of socketPlaces(folder)) {
    const listening = await listenOnSocket(answering, place.path, timeouts)
    if (listening === undefined) {
      place.remove()
      continue
    }
    undo.push(async () => {
      await listening.close()
      place.remove()
    })
    return place
  }
  return undefined
}
