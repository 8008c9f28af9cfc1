import type { HookPost, TerminalHook, TerminalPayload } from '../../ports/terminal/wire.ts'
import { codeOf, ownStoreFolder } from '../files/own-files.ts'
import type { HookArguments } from './hook-arguments.ts'
import type { HookLog } from './hook-log.ts'
import { type Posted, postEvent, type ServiceAnswer } from './post-event.ts'
import { serviceAddress } from './service-address.ts'
import { spool, unspool, uuidV7 } from './spooled-posts.ts'
import { startService } from './start-service.ts'

/** The parts of a service. */
export interface ServiceClientParts {
  readonly folder: string
  /** The flags with which a service is started there. */
  readonly flags: Readonly<Record<string, string | undefined>>
  readonly hook: HookArguments
  readonly log: HookLog
  readonly environment: Readonly<Record<string, string | undefined>>
}

/** The input of a hook as it is sent, and as much of it as may stand in a file until the service has it. */
interface Payloads {
  readonly payload: TerminalPayload
  readonly spooled?: TerminalPayload
}

/** Sends what hooks hear to the service, and keeps what must not be lost until it has it. */
export class ServiceClient {
  readonly #parts: ServiceClientParts

  constructor(parts: ServiceClientParts) {
    this.#parts = parts
  }

  /** Delivers one event of a session. @returns the service's answer, where it gave one in time */
  async deliver(event: HookPost['event'], session: string, payloads: Payloads, ms: number): Promise<Posted> {
    const { payload, spooled = payload } = payloads
    const at = new Date(event === 'ack' ? Date.now() : performance.timeOrigin).toISOString()
    const post = { v: 1, commandId: uuidV7(), at, event, runtime: this.#parts.hook.agent.name, payload } as const
    const file = isSpooled(event) ? this.#spooled({ ...post, payload: spooled }) : undefined
    const posted = await this.#posted({ ...post, waitMs: Math.max(0, Math.floor(ms / 2)) }, session, ms)
    if (posted.state === 'taken' && file !== undefined) this.#removed(file)
    if (posted.state === 'failed') this.#parts.log.tell(posted.problem)
    return posted
  }

  /** Starts a service, if this is an event to start one for and nobody did within a minute. */
  async wake(event: TerminalHook): Promise<void> {
    if (!isSpooled(event)) return
    const { folder, flags, environment, log } = this.#parts
    try {
      if ((await startService({ folder, flags, environment })) !== undefined) log.debug('started the service')
    } catch (problem) {
      log.tell(`the service could not be started: ${codeOf(problem)}`)
    }
  }

  #spooled(post: HookPost): string | undefined {
    try {
      return spool(this.#parts.folder, post)
    } catch (problem) {
      this.#parts.log.tell(`the spool could not be written: ${codeOf(problem)}`)
      return undefined
    }
  }

  #removed(file: string): void {
    try {
      unspool(file)
    } catch (problem) {
      this.#parts.log.tell(`the spool could not be emptied: ${codeOf(problem)}`)
    }
  }

  async #posted(post: HookPost, session: string, ms: number): Promise<Posted> {
    try {
      const address = serviceAddress(this.#parts.folder)
      if (address === undefined) return { state: 'absent' }
      return await postEvent(address, session, post, ms)
    } catch (problem) {
      return { state: 'failed', problem: `the service could not be found: ${codeOf(problem)}` }
    }
  }
}

/** Whether an event is spooled before it is sent: a sample comes again with the next request, the others never. */
const isSpooled = (event: HookPost['event']): boolean => event !== 'statusline' && event !== 'post-tool-use'

/** Makes the folder of the service where it is missing. @returns whether it can be used */
export const isUsable = (folder: string, log: HookLog): boolean => {
  try {
    ownStoreFolder(folder)
    return true
  } catch (problem) {
    log.debug(`${folder} cannot be used: ${codeOf(problem)}`)
    return false
  }
}

/** The answer where there is none. */
export const NO_ANSWER: ServiceAnswer = { signals: [], inject: undefined, notice: undefined }
