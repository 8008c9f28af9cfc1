import { sessionOfParent } from '../adapters/hook-client/agent-process.ts'
import { askService, NoService, type ServiceQuestion, type ServiceReply } from '../adapters/hook-client/ask-service.ts'
import { serviceAddress } from '../adapters/hook-client/service-address.ts'
import { keepHandoff } from '../adapters/hook-client/spooled-posts.ts'
import type { ServiceStart } from '../adapters/hook-client/start-service.ts'
import { Access, type McpServices } from '../adapters/mcp/access.ts'
import { agentServer, serveStdio } from '../adapters/mcp/agent-server.ts'
import { type ServiceWay, serviceReceiver } from '../adapters/mcp/service-receiver.ts'
import { homeStore } from '../adapters/place/home-folder.ts'
import { type Logger, silentLogger } from '../ports/system/logger.ts'
import type { TerminalRuntime } from '../ports/terminal/terminal-files.ts'
import type { StoreOptions } from './options.ts'
import type { Redactor } from './redaction.ts'
import { TERMINAL_AGENTS } from './runtimes.ts'

/** How the MCP server is run. */
export interface AskingOptions {
  /** The folder of the service and the hooks. */
  readonly folder: string
  readonly store: StoreOptions
  /** The flags that a service is started with, where none runs. */
  readonly serviceFlags: Readonly<Record<string, string | undefined>>
  /** The session that asks; found out unless given. */
  readonly session?: string
  readonly runtime?: TerminalRuntime
  /** Whether the person allows every conversation to be read. */
  readonly isAllAllowed: boolean
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly workingFolder: string
  readonly version: string
  readonly signal: AbortSignal
  readonly logger?: Logger
}

/** The store is closed after this: an embedded one that stays open for hours keeps its memory as well. */
const IDLE_MS = 60_000

/** Answers an agent over standard input and output, until it closes them. */
export const answerAgent = async (options: AskingOptions): Promise<void> => {
  const { folder, serviceFlags, session, runtime, environment, workingFolder, isAllAllowed, version } = options
  const { logger = silentLogger } = options
  const record = new LazyRecord(options.store, folder)
  const clues = {
    ...(session !== undefined && { named: session }),
    ...(runtime !== undefined && { runtime }),
    agents: TERMINAL_AGENTS,
    ofProcess: () => sessionOfParent(folder),
    environment,
    workingFolder,
  }
  const isShared = (): boolean => record.isOpen || isOnServer(options.store) || isServed(folder)
  const access = new Access({ open: () => record.open(), isShared, clues, isAllAllowed })
  const receiver = serviceReceiver(wayTo({ folder, flags: serviceFlags, environment }))
  const make = () => agentServer({ access, receiver, version, logger })
  const tell = (error: Error): void => logger.warn({ problem: error.message }, 'a message was not understood')
  try {
    await serveStdio(make, options.signal, tell)
  } finally {
    await record.close()
  }
}

const isOnServer = ({ database, databaseFile }: StoreOptions): boolean => (database ?? databaseFile) !== undefined

/** The rules of secrets, loaded when something is written, as the store is. */
const redactorIn = async (folder: string): Promise<Redactor> => {
  const { redactionIn, redactorFor } = await import('./redaction.ts')
  return redactorFor(await redactionIn(folder, homeStore(process.env)))
}

/** The service of a folder, which is started where none runs. */
const wayTo = (start: ServiceStart): ServiceWay => ({
  wake: async () => (await askedOrNot(start, { method: 'GET', path: '/health' })) !== undefined,
  send: (as, handoff) => {
    const path = `/sessions/${encodeURIComponent(as)}/handoff`
    return askedOrNot(start, { method: 'POST', path, as, body: { ...handoff } })
  },
  keep: async (session, { command_id, ...handoff }) => {
    const { redact } = await redactorIn(start.folder)
    return keepHandoff(start.folder, command_id, { session, ...handoff }, redact)
  },
})

const askedOrNot = async (start: ServiceStart, question: ServiceQuestion): Promise<ServiceReply | undefined> => {
  try {
    return await askService(start, question)
  } catch (error) {
    if (error instanceof NoService) return undefined
    throw error
  }
}

const isServed = (folder: string): boolean => {
  try {
    return serviceAddress(folder) !== undefined
  } catch {
    return false
  }
}

/** The record, opened when it is first asked and closed when nobody asks any more. */
class LazyRecord {
  readonly #options: StoreOptions
  readonly #folder: string
  #opened: Promise<McpServices & AsyncDisposable> | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(options: StoreOptions, folder: string) {
    this.#options = options
    this.#folder = folder
  }

  get isOpen(): boolean {
    return this.#opened !== undefined
  }

  async open(): Promise<McpServices> {
    clearTimeout(this.#timer)
    this.#opened ??= openServices(this.#options, this.#folder)
    try {
      return await this.#opened
    } catch (error) {
      this.#opened = undefined
      throw error
    } finally {
      this.#timer = setTimeout(() => void this.close().catch(() => {}), IDLE_MS)
      this.#timer.unref()
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer)
    const opened = this.#opened
    this.#opened = undefined
    await (await opened?.catch(() => undefined))?.[Symbol.asyncDispose]()
  }
}

const openServices = async (options: StoreOptions, folder: string): Promise<McpServices & AsyncDisposable> => {
  const [{ openStore }, { buildContainer, TOKENS }] = await Promise.all([
    import('./open-store.ts'),
    import('./container.ts'),
  ])
  const store = await openStore(options)
  // What an agent asks is on record too.
  const { redact } = await redactorIn(folder)
  const parts = buildContainer({ store, redact })
  return {
    history: parts.resolve(TOKENS.historyService),
    lookBack: parts.resolve(TOKENS.lookBack),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() as Promise<void>,
  }
}
