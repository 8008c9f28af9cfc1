import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { counted } from '../../../domain/kernel/counted.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import { sessionAround } from '../../../main/runtimes.ts'
import { askService, NoService, type ServiceReply } from '../../hook-client/ask-service.ts'
import { keepHandoff, newHandoffId } from '../../hook-client/spooled-posts.ts'
import { readPending } from '../../hook-client/waiting-document.ts'
import { workspaceOf } from '../../place/workspace.ts'
import { textFlag } from '../choose/flag-values.ts'
import { redactorIn, sayHidden } from '../choose/hidden-secrets.ts'
import { type CommandService, serviceToUse } from '../choose/store-options.ts'
import { CommandNotCompleted, UsageError } from '../invocation/command-problems.ts'
import { EXIT } from '../invocation/exit-codes.ts'
import type { Invocation, Run } from '../invocation/invocation.ts'
import { plain, toJson } from '../render/text.ts'

const LONGEST = 1_048_576

/** Asks the service of one invocation. */
type Ask = (
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  body?: Readonly<Record<string, unknown>>,
) => Promise<ServiceReply['json']>

/** Leaves a document for the next session, shows it, or takes it back. */
export const handoffDocumentCommand: Run = async (invocation) => {
  const { values, positionals } = invocation
  const modes = [values.show === true, values.withdraw === true, positionals.length > 0].filter(Boolean).length
  if (modes !== 1)
    throw new UsageError(
      'Name one document: "baton handoff FILE", or "-" for standard input. Or --show, or --withdraw.',
    )
  const workspace = workspaceOf(resolve(textFlag(invocation, 'workspace') ?? '.'))
  if (workspace === undefined) throw new UsageError('--workspace names no folder that is there.')
  const service = serviceToUse(invocation)
  const { folder } = service
  if (values.show === true) return show(invocation, folder, workspace)
  const ask = asking(invocation, service)
  if (values.withdraw === true) return withdraw(invocation, { ask, folder, workspace })
  return leave(invocation, { ask, folder, workspace })
}

const show = async ({ out, values }: Invocation, folder: string, workspace: string): Promise<void> => {
  const { document, path, writtenAt, expiresAt, providerSessionId } = waitingIn(folder, workspace)
  if (values.json === true)
    return out.line(toJson({ workspace, document, path, writtenAt, expiresAt, providerSessionId }))
  out.line(
    `Written at ${plain(writtenAt)} in session ${plain(providerSessionId)}; waits in ${plain(workspace)} until ${plain(expiresAt)}.`,
  )
  out.line('')
  for (const line of document.split('\n')) out.line(plain(line))
}

interface Place {
  readonly ask: Ask
  readonly folder: string
  readonly workspace: string
}

const withdraw = async ({ out, values }: Invocation, { ask, folder, workspace }: Place): Promise<void> => {
  const { providerSessionId } = waitingIn(folder, workspace)
  const withdrawn = await ask('DELETE', `/sessions/${encodeURIComponent(providerSessionId)}/handoff`)
  if (values.json === true) return out.line(toJson(withdrawn))
  out.line(`Withdrawn: no session is given it any more. It is still in ${plain(String(withdrawn.path))}.`)
}

const waitingIn = (folder: string, workspace: string) => {
  const found = readPending(folder, workspace)
  if (found === undefined) throw refused(`No document waits in ${plain(workspace)}.`)
  return found
}

interface Leaving {
  readonly document: string
  readonly reason?: string
  readonly target_agent?: string
}

const leave = async (invocation: Invocation, { ask, folder, workspace }: Place): Promise<void> => {
  const { out, values } = invocation
  const document = await documentIn(invocation)
  const target_agent = textFlag(invocation, 'target')
  const handoff: Leaving = defined({ document, reason: textFlag(invocation, 'reason'), target_agent })
  const id = newHandoffId()
  const answer = await sentOrKept(invocation, { ask, folder, workspace }, { id, handoff })
  if (answer === undefined) return
  if (values.json === true) return out.line(toJson(answer))
  const { status, handoff_id, path, replaced, pending_document: pending } = answer
  if (status !== 'pending')
    return out.line(
      `Handoff ${String(handoff_id)} to "${plain(String(target_agent))}" has begun. The session waits until it ends.`,
    )
  const { workspace: where, expires_at } = pending as Readonly<Record<string, unknown>>
  out.line(`The document waits for the next session in ${plain(String(where))}, until ${String(expires_at)}.`)
  if (replaced === true) out.line('It takes the place of the one that waited there before.')
  out.line(`It is also in ${plain(String(path))}.`)
}

/** The answer of the service. Nothing where none could be asked: then the document is kept, and the person is told so. */
const sentOrKept = async (
  invocation: Invocation,
  place: Place,
  { id, handoff }: { readonly id: string; readonly handoff: Leaving },
): Promise<ServiceReply['json'] | undefined> => {
  const { ask, folder, workspace } = place
  let session = namedSession(invocation)
  try {
    session = await sessionFor(invocation, ask, workspace)
    return await ask('POST', `/sessions/${encodeURIComponent(session)}/handoff`, { ...handoff, command_id: id })
  } catch (error) {
    if (!(error instanceof Unasked)) throw error
    const whose = session === undefined ? { working_in: workspace } : { session }
    const redactor = await redactorIn(invocation)
    const keep = () => keepHandoff(folder, id, { ...whose, ...handoff }, redactor.redact)
    const path = keepIn(folder, keep, error)
    if (invocation.values.json !== true) sayHidden(invocation, redactor)
    tellKept(invocation, { path, problem: error.message })
    return undefined
  }
}

/** Where not even the folder can be written, both reasons are said: the document is only in the person's own file then. */
const keepIn = (folder: string, keep: () => string, unasked: Unasked): string => {
  try {
    return keep()
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    const problem = `${unasked.message} The document could not be kept in ${plain(folder)} either: ${plain(why)}`
    throw new CommandNotCompleted(problem, EXIT.failure)
  }
}

const WHEN =
  'It takes effect when a service runs next: the next hook of a session starts one, or you do with "baton serve". A session that begins before that is not given it.'

const tellKept = (
  { out, notes, values }: Invocation,
  { path, problem }: { readonly path: string; readonly problem: string },
): void => {
  if (values.json === true) out.line(toJson({ status: 'kept', path, problem, what_happens_next: WHEN }))
  else {
    notes.line(problem)
    out.line(`The document is kept in ${plain(path)}. ${WHEN}`)
  }
}

const documentIn = async ({ positionals: [file = ''], input }: Invocation): Promise<string> => {
  const document = file === '-' ? await input() : fromFile(file)
  if (document.trim() === '') throw new UsageError('The document is empty. Write what the next session needs to know.')
  if (document.length > LONGEST)
    throw new UsageError('The document is over a megabyte. Shorten it: the next session reads its beginning.')
  return document
}

const fromFile = (file: string): string => {
  try {
    // One character takes four bytes at most.
    if (statSync(file).size <= LONGEST * 4) return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new UsageError(`${plain(file)} cannot be read. Name a file, or "-" for standard input.`, { cause })
  }
  throw new UsageError('The document is over a megabyte. Shorten it: the next session reads its beginning.')
}

/** The session that is known without the service: by name, or because this command was typed in it. */
const namedSession = (invocation: Invocation): string | undefined =>
  textFlag(invocation, 'session') ?? sessionAround(invocation.environment)

/** The session that is named, the one this command was typed in, the only one that works here, or the last that did. */
const sessionFor = async (invocation: Invocation, ask: Ask, workspace: string): Promise<string> => {
  const named = textFlag(invocation, 'session')
  if (named !== undefined) return named
  const { sessions } = await ask('GET', `/sessions?handing_in=${encodeURIComponent(workspace)}`)
  const working = (sessions as readonly Readonly<Record<string, unknown>>[]).map((session) => ({
    id: String(session.provider_session_id),
    hasEnded: session.state !== 'active',
    line: `  ${String(session.provider_session_id)}  ${String(session.agent_name)}, ${counted(Number(session.turns), 'turn')}, since ${String(session.started_at)}`,
  }))
  const own = working.find(({ id }) => id === sessionAround(invocation.environment))
  const [only, another] = working
  if (own !== undefined) return own.id
  if (only === undefined)
    throw refused(`No session works in ${plain(workspace)}, and none has. Start one there, or name one with --session.`)
  if (only.hasEnded) invocation.notes.line(`No session works there now. This is of the last one, ${plain(only.id)}.`)
  if (another === undefined) return only.id
  const lines = working.map(({ line }) => plain(line)).join('\n')
  throw refused(`Several sessions work in ${plain(workspace)}. Name one with --session:\n${lines}`)
}

const asking = ({ environment }: Invocation, { folder, flags }: CommandService): Ask => {
  return async (method, path, body) => {
    const { status, json } = await replyTo(() =>
      askService({ folder, flags, environment }, defined({ method, path, body })),
    )
    if (status >= 200 && status < 300) return json
    const { message } = (json.error ?? {}) as { readonly message?: unknown }
    const problem = typeof message === 'string' ? plain(message) : `The service answered with ${status}.`
    throw new CommandNotCompleted(problem, status >= 500 ? EXIT.failure : EXIT.refused)
  }
}

const replyTo = async (ask: () => Promise<ServiceReply>): Promise<ServiceReply> => {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof NoService) throw new Unasked(plain(error.message), EXIT.failure)
    throw error
  }
}

/** No service could be asked, so nobody has said no. */
class Unasked extends CommandNotCompleted {}

const refused = (problem: string): CommandNotCompleted => new CommandNotCompleted(problem, EXIT.refused)
