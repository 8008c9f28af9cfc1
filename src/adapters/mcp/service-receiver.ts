import { z } from 'zod'
import { err, ok, type Result } from '../../domain/kernel/result.ts'
import type { HandoffReceiver, HandoffSent, HandoffTaken } from './handoff-tool.ts'
import type { ToolRefusal } from './tool.ts'

/** The reply of the service to a handoff. */
export interface ReceiverReply {
  readonly json: Readonly<Record<string, unknown>>
}

/** The way to the service of a folder. */
export interface ServiceWay {
  /** Starts the service where none runs, and waits until it answers. @returns whether it does */
  wake(): Promise<boolean>
  /** Sends a handoff with the token of its session. @returns nothing where no service could be asked */
  send(providerSessionId: string, handoff: HandoffSent): Promise<ReceiverReply | undefined>
  /** Keeps a handoff for the service that runs next. @returns the file that its document is in */
  keep(providerSessionId: string, handoff: HandoffSent): Promise<string>
}

const taken = z.looseObject({ status: z.string().max(100), path: z.string().max(4_096).nullish() })
const problem = z.looseObject({ error: z.looseObject({ code: z.string().max(100), message: z.string().max(4_000) }) })

/** The service, with the token of the session that hands off. A handoff that it cannot be given is kept. */
export const serviceReceiver = (way: ServiceWay): HandoffReceiver => ({
  wake: () => way.wake(),
  send: async (providerSessionId, handoff) => {
    const reply = await way.send(providerSessionId, handoff)
    return reply === undefined ? ok(await putAside(way, providerSessionId, handoff)) : answerIn(reply.json)
  },
  keep: (providerSessionId, handoff) => putAside(way, providerSessionId, handoff),
})

const putAside = async (way: ServiceWay, providerSessionId: string, handoff: HandoffSent): Promise<HandoffTaken> => ({
  status: 'kept',
  path: await way.keep(providerSessionId, handoff),
})

const answerIn = (answer: ReceiverReply['json']): Result<HandoffTaken, ToolRefusal> => {
  const refusal = problem.safeParse(answer).data?.error
  if (refusal !== undefined) return err({ code: refusal.code, message: refusal.message })
  const { status, path } = taken.parse(answer)
  return ok({ status, ...(path != null && { path }) })
}
