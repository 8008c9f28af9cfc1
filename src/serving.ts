import { readFileSync } from 'node:fs'
import { type App, appOf } from './adapters/http/app.ts'
import type { EventStreamOptions } from './adapters/http/event-stream.ts'
import { hookEventIn } from './adapters/http/hook-events.ts'
import { type HttpTimeouts, listen } from './adapters/http/http-server.ts'
import { HttpProblem } from './adapters/http/problems.ts'
import { takeProvenLock } from './adapters/postgres/pglite-proven-lock.ts'
import { IdleWatch } from './adapters/terminal/idle-watch.ts'
import { masterToken, removeRunning, writeRunning } from './adapters/terminal/service-files.ts'
import { lockService } from './adapters/terminal/service-lock.ts'
import { Spool } from './adapters/terminal/spool.ts'
import type { Environment } from './adapters/terminal/transcript-files.ts'
import { defined } from './domain/kernel/defined.ts'
import { describeThrown } from './domain/kernel/describe-thrown.ts'
import { RefusedError } from './domain/unwrap.ts'
import type { StoreOptions } from './options.ts'
import { type Logger, silentLogger } from './ports/logger.ts'
import { hiddenAccount, redactionIn, redactorFor, writeRules } from './redaction.ts'
import { redactedLogger, safeLogger } from './services/safe-logger.ts'
import { openStore } from './stores.ts'
import { type Terminals, terminalsOn } from './terminal.ts'

/** How a service is run. */
export interface ServeOptions extends StoreOptions {
  /** The folder of the service: its token, its spool, the cards of sessions. */
  readonly folder: string
  /** The port to listen on; the system chooses one unless given. */
  readonly port?: number
  /** End by itself once nobody has used it for so long; never unless given. */
  readonly idleMs?: number
  /** Says where runtimes keep their transcripts; the environment of this process unless given. */
  readonly environment?: Environment
  readonly logger?: Logger
  readonly timeouts?: HttpTimeouts
  readonly events?: EventStreamOptions
}

/** A service that runs. */
export interface Service {
  readonly port: number
  readonly pid: number
  /** Settles once it has ended, by itself or because it was stopped. */
  readonly ended: Promise<void>
  /** Finishes what is under way and ends. */
  stop(): Promise<void>
}

/** How often the spool is looked at, and how old a file must be: a younger one is still on its way by itself. */
const SPOOL_MS = 2_000
/** How often documents are looked at that have waited long enough. */
const SWEEP_MS = 3_600_000

const { version: program } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  readonly version: string
}

/**
 * Runs the service of a folder: opens the store, takes the spool, and listens on the loopback address.
 *
 * @throws AlreadyServed when another process is the service of that folder
 */
export const serve = async (options: ServeOptions): Promise<Service> => {
  const undo: (() => PromiseLike<void> | void)[] = []
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

const begin = async (
  options: ServeOptions,
  undo: (() => PromiseLike<void> | void)[],
  undoAll: () => Promise<void>,
): Promise<Service> => {
  const { folder, port = 0, idleMs, environment } = options
  const given = safeLogger(options.logger ?? silentLogger)
  const redaction = await redactionIn(folder)
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
  let listensOn = 0
  const app = appFor(opened, spool, { ...options, logger, master, port: () => listensOn })
  const idle = idleMs === undefined ? undefined : new IdleWatch(idleMs, isIdle(app, opened, spool))
  const listening = await listen(watched(app, idle), port, options.timeouts)
  listensOn = listening.port
  undo.push(() => listening.close())
  const pid = process.pid
  await writeRunning(folder, { v: 1, pid, port: listensOn, startedAt: new Date().toISOString(), program })
  undo.push(() => removeRunning(folder, pid))
  let stopping: Promise<void> | undefined
  let over: () => void = () => {}
  const ended = new Promise<void>((resolve) => {
    over = resolve
  })
  const stop = (): Promise<void> => (stopping ??= undoAll().finally(over))
  idle?.watch(() => void stop())
  undo.push(() => idle?.stop())
  return { port: listensOn, pid, ended, stop }
}

const spoolFor = async (folder: string, { terminals }: Terminals, logger: Logger): Promise<Spool> => {
  const spool = new Spool(folder, async (text) => {
    try {
      await terminals.take(hookEventIn(jsonIn(text)))
      return 'taken'
    } catch (error) {
      if (!(error instanceof HttpProblem || error instanceof RefusedError)) throw error
      logger.warn({ problem: error.message }, 'a spooled event cannot be taken, and is put aside')
      return 'rejected'
    }
  })
  await spool.make()
  await spool.drain({ olderThanMs: 0 }).catch(told(logger))
  return spool
}

const jsonIn = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const told =
  (logger: Logger) =>
  (error: unknown): void =>
    logger.warn({ problem: describeThrown(error) }, 'the spool is taken later')

const sweeping = (spool: Spool, logger: Logger): (() => void) => {
  const timer = setInterval(() => void spool.drain({ olderThanMs: SPOOL_MS }).catch(told(logger)), SPOOL_MS)
  return () => clearInterval(timer)
}

/** Finishes what an earlier service began, now that its events are taken, and looks again from time to time. */
const lookingAfter = async ({ terminals }: Terminals, logger: Logger): Promise<() => void> => {
  const sweep = (): Promise<void> =>
    terminals
      .sweep()
      .catch((error: unknown) => logger.warn({ problem: describeThrown(error) }, 'documents are looked at later'))
  await sweep()
  const timer = setInterval(() => void sweep(), SWEEP_MS)
  return () => clearInterval(timer)
}

type AppOptions = Pick<ServeOptions, 'events'> & Pick<Parameters<typeof appOf>[0], 'logger' | 'master' | 'port'>

const appFor = (
  { terminals, requests, audit }: Terminals,
  spool: Spool,
  { logger, master, port, events }: AppOptions,
): App =>
  appOf({
    ...{ requests, audit, logger, master, program, port },
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

/** The application, of which the watch is told whenever somebody uses it. */
const watched = ({ hono, streams }: App, idle: IdleWatch | undefined) => ({
  streams,
  fetch: (request: Request): Response | Promise<Response> => {
    idle?.used()
    return hono.fetch(request)
  },
})

export { readRunning } from './adapters/terminal/service-files.ts'
export { AlreadyServed } from './adapters/terminal/service-lock.ts'
