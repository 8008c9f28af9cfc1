import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs'
import { begunWithDocument } from '../../domain/handoff/document-notice.ts'
import type { TerminalAgent } from '../../ports/agent/vendor.ts'
import type { Environment } from '../../ports/system/environment.ts'
import { HOOKS_WITH_VARIABLES, type TerminalHook, type TerminalPayload } from '../../ports/terminal/wire.ts'
import { CAREFULLY, codeOf } from '../files/own-files.ts'
import type { Budget } from './budget.ts'
import { HiddenPayload } from './hidden-payload.ts'
import { readCard } from './hook-card.ts'
import type { HookLog } from './hook-log.ts'
import { hookOutput } from './hook-output.ts'
import type { ServiceAnswer } from './post-event.ts'
import type { RawInput } from './read-input.ts'
import { NO_ANSWER, type ServiceClient } from './service-client.ts'
import { trimmedPayload } from './trimmed-payload.ts'
import { pendingAtStart } from './waiting-document.ts'

/** Everything that a hook's work needs. */
export interface HookWork {
  readonly event: TerminalHook
  readonly input: RawInput
  readonly session: string
  readonly folder: string
  readonly service: ServiceClient
  readonly log: HookLog
  readonly budget: Budget
  readonly environment: Environment
  readonly agent: TerminalAgent
}

/** Kept back from the wait for an answer, to print it and to say that it was printed. */
const AFTER_ANSWER_MS = 60

/** Carries a hook out that is no status line: tells the service, and tells the agent and the person what it answers. */
export const answerEventHook = async (work: HookWork): Promise<void> => {
  const { event, input, session, service, budget, environment } = work
  // Read before anything is sent: a service that starts now takes seconds.
  const waiting = event === 'session-start' ? begunWith(work) : undefined
  const within = event === 'session-start' ? startedWithin(environment, session) : undefined
  const hidden = new HiddenPayload(work.folder, environment)
  const variables = variablesFor(work)
  const trimmed: TerminalPayload = {
    ...trimmedPayload(event, input, hidden.hide),
    ...(within !== undefined && { within }),
    ...(variables !== undefined && { variables }),
  }
  const payload = hidden.counted(trimmed)
  const spooled = hidden.forSpool(payload)
  const posted = await service.deliver(event, session, { payload, spooled }, budget.left - AFTER_ANSWER_MS)
  const answer = posted.state === 'taken' ? posted.answer : { ...NO_ANSWER, ...waiting }
  const { text, passedOn } = hookOutput(event, input, answer)
  if (text !== '') writeSync(1, text)
  if (posted.state === 'absent') await service.wake(event)
  if (passedOn.length > 0)
    await service.deliver('ack', session, { payload: { session_id: session, signals: passedOn } }, budget.left)
}

/** The text that a session begins with, and a sentence for its person, as far as they are known without the service. */
const begunWith = (work: HookWork): Pick<ServiceAnswer, 'inject' | 'notice'> | undefined => {
  const { input, folder, session, log, environment, agent } = work
  const tried = <T>(problem: string, attempt: () => T): T | undefined => {
    try {
      return attempt()
    } catch (cause) {
      log.tell(`${problem}: ${codeOf(cause)}`)
      return undefined
    }
  }
  if (input.source === 'compact') {
    const card = tried('the card of the session could not be read', () => readCard(folder, session))
    return { inject: card?.afterCompaction?.text, notice: card?.afterCompaction?.notice }
  }
  tried('the tools of the session could not be told its name', () =>
    nameForTools(environment[agent.variables.toolSettings ?? ''], session),
  )
  if (startedWithin(environment, session) !== undefined) return undefined
  const pending = tried('the pending document could not be read', () => pendingAtStart(folder, input, session))
  return pending && { inject: pending.text, notice: begunWithDocument(pending) }
}

/** The variables that say where the agent compacts by itself, where there are any. */
const variablesFor = ({ event, input, environment, agent }: HookWork): Readonly<Record<string, string>> | undefined => {
  if (!HOOKS_WITH_VARIABLES.includes(event) || agent.window === undefined) return undefined
  const variables = agent.window.variables(environment, typeof input.cwd === 'string' ? input.cwd : undefined)
  return Object.keys(variables).length === 0 ? undefined : variables
}

/** Names the session inside of whose tools a program runs. */
const WITHIN = 'BATONPASS_WITHIN'

/** The session inside of whose tools this one was started, where it is another one. It continues nobody's work. */
const startedWithin = (environment: Environment, session: string): string | undefined => {
  const within = environment[WITHIN]
  return within === session || within === '' ? undefined : within
}

/** Lets everything that the tools of this session start know where it is, where the runtime has a file for that. */
const nameForTools = (path: string | undefined, session: string): void => {
  if (path === undefined || path === '') return
  const { O_WRONLY, O_APPEND, O_CREAT } = constants
  const file = openSync(path, O_WRONLY | O_APPEND | O_CREAT | CAREFULLY, 0o600)
  try {
    // The name of a session has no character in it that means something to a shell.
    if (fstatSync(file).isFile()) writeSync(file, `export ${WITHIN}='${session}'\n`)
  } finally {
    closeSync(file)
  }
}
