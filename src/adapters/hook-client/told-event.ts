import { writeSync } from 'node:fs'
import type { Budget } from './budget.ts'
import type { HookEvent } from './hook-events.ts'
import type { HookLog } from './hook-log.ts'
import { hookOutput } from './hook-output.ts'
import { codeOf } from './own-files.ts'
import type { HookInput } from './read-input.ts'
import { NO_ANSWER, type ServiceClient } from './service-client.ts'
import { readCard } from './session-card.ts'
import { trimmedPayload } from './trimmed-payload.ts'

/** Everything that a hook's work needs. */
export interface HookWork {
  readonly event: HookEvent
  readonly input: HookInput
  readonly session: string
  readonly folder: string
  readonly service: ServiceClient
  readonly log: HookLog
  readonly budget: Budget
}

/** Kept back from the wait for an answer, to print it and to say that it was printed. */
const AFTER_ANSWER_MS = 60

/** Carries a hook out that is no status line: tells the service, and tells the agent and the person what it answers. */
export const tellEvent = async (work: HookWork): Promise<void> => {
  const { event, input, session, service, budget } = work
  // Read before anything is sent: a service that starts now takes seconds.
  const waiting = event === 'session-start' ? injected(work) : undefined
  const posted = await service.deliver(event, session, trimmedPayload(event, input), budget.left - AFTER_ANSWER_MS)
  const answer = posted.state === 'taken' ? posted.answer : { ...NO_ANSWER, inject: waiting }
  const { text, told } = hookOutput(event, input, answer)
  if (text !== '') writeSync(1, text)
  if (posted.state === 'absent') await service.wake(event)
  if (told.length > 0) await service.deliver('ack', session, { session_id: session, signals: told }, budget.left)
}

const injected = ({ folder, session, log }: HookWork): string | undefined => {
  try {
    return readCard(folder, session)?.inject
  } catch (problem) {
    log.tell(`the card of the session could not be read: ${codeOf(problem)}`)
    return undefined
  }
}
