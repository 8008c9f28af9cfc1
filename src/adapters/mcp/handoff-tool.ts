import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { defined } from '../../domain/kernel/defined.ts'
import { err, ok, type Result } from '../../domain/kernel/result.ts'
import type { Access } from './access.ts'
import type { Caller, Tool, ToolRefusal } from './tool.ts'

/** A handoff as it is sent to the service. */
export interface HandoffSent {
  readonly document: string
  readonly reason?: string
  readonly target_agent?: string
  /** Sent and kept under the same id, a handoff is taken once. */
  readonly command_id: string
}

/** The service's answer, as far as the agent is told of it. */
export interface HandoffTaken {
  /** `kept` where no service could be given it: the next one takes it. */
  readonly status: string
  /** The file that the document is in. */
  readonly path?: string
}

/** The service that keeps what agents hand off. */
export interface HandoffReceiver {
  /** Starts the service where it does not run, and waits until it does. @returns whether it runs */
  wake(): Promise<boolean>
  /** Sends a handoff of a session, by the runtime's own name for it. */
  send(providerSessionId: string, handoff: HandoffSent): Promise<Result<HandoffTaken, ToolRefusal>>
  /** Keeps a handoff for the service that runs next. */
  keep(providerSessionId: string, handoff: HandoffSent): Promise<HandoffTaken>
}

const LARGEST = 1_000_000

const input = z.object({
  document: z
    .string()
    .min(1)
    .max(LARGEST)
    .describe('What the next session needs, in markdown: goal, done, state, next steps, decisions, files.'),
  target_agent: z
    .string()
    .trim()
    .min(1)
    .max(300)
    .optional()
    .describe('Who is to take over; the same agent in a fresh window unless given.'),
  reason: z.string().min(1).max(2_000).optional().describe('Why, in a sentence.'),
})

/** The tool with which an agent hands its work over to a fresh window, or to another agent. */
export const handoffTool = (access: Access, receiver: HandoffReceiver): Tool<typeof input> => ({
  name: 'handoff',
  title: 'Hand off',
  description:
    'Keeps a handoff document for the next session in this workspace. Use it when your window is nearly full or the person asks for a handoff. It stops nothing: you and the person can work on; the next session gets the document when it begins.',
  input,
  isReadOnly: false,
  call: async ({ document, target_agent, reason }, caller) => {
    const handoff = defined({ document, target_agent, reason, command_id: randomUUID() })
    // Before the record is opened: once it runs, the service knows what hooks have told, and lets us in to the store.
    const sent = (await receiver.wake())
      ? await send(access, receiver, caller, handoff)
      : await keep(access, receiver, caller, handoff)
    return sent.ok ? ok(answerOf(sent.value)) : sent
  },
})

const send = async (access: Access, receiver: HandoffReceiver, caller: Caller, handoff: HandoffSent) => {
  const own = await access.own(caller)
  if (!own.ok) return own
  const { providerSessionId } = own.value
  return providerSessionId === undefined ? err(NO_TERMINAL) : receiver.send(providerSessionId, handoff)
}

/** Without the service and its record only hooks and the environment can tell whose handoff it is. */
const keep = async (access: Access, receiver: HandoffReceiver, caller: Caller, handoff: HandoffSent) => {
  const [name] = access.namesOf(caller)
  return name === undefined ? err(NO_SERVICE) : ok(await receiver.keep(name, handoff))
}

const answerOf = ({ status, path }: HandoffTaken) => {
  const next = status === 'kept' ? LATER : NEXT
  return {
    text: `The handoff is ${status}${path === undefined ? '' : `; its document is in ${path}`}. ${next}`,
    facts: { status, path: path ?? null, what_happens_next: next },
  }
}

const LATER =
  'The service of Batonpass does not run and could not be started, so nobody has taken it yet. It takes effect when a service runs next: the next hook of a session starts one, or the person with "baton serve". A session that begins before that is not given it. Tell the person where the document is, and that "baton doctor" says what is wrong.'

const NEXT =
  'It waits for the next session in this workspace, after /clear or in a new terminal, which gets it before its first turn. Tell the person that they can begin one now; nothing of this session is stopped.'

const NO_SERVICE: ToolRefusal = {
  code: 'service.absent',
  message:
    'The service of Batonpass does not run and could not be started. Write the document to a file; the person can hand it over with "baton handoff FILE", and "baton doctor" says what is wrong.',
}

const NO_TERMINAL: ToolRefusal = {
  code: 'session.not_attached',
  message:
    'Your session has no session of a runtime, so nothing could be handed to its next one. Write the document to a file.',
}
