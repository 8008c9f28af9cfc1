import { defined } from '../../domain/kernel/defined.ts'
import { agentSessionId, commandId, signalId } from '../../domain/kernel/ids.ts'
import { instantIn } from '../../domain/kernel/instant.ts'
import type { Result } from '../../domain/kernel/result.ts'
import type { HookAnswer, HookOutcome, TerminalHookEvent } from '../../services/terminal/hook-event.ts'
import type { TerminalRefusal } from '../../services/terminal/terminal-refusal.ts'
import type { TerminalRequests } from '../../services/terminal/terminal-requests.ts'
import { HttpProblem, problemOf } from './http-problem.ts'
import { checked } from './read-body.ts'
import { type BodyOf, milestonesIn, turnIn } from './request-bodies.ts'
import type { Operation } from './routes.ts'
import { keptHandoff } from './schemas.ts'
import {
  handoffOut,
  hookAnswerOut,
  monitorOut,
  pendingOut,
  sessionOut,
  signalOut,
  summaryOut,
} from './session-views.ts'

/** The parts that the handlers work with. */
export interface HandlerDeps {
  readonly requests: TerminalRequests
  /** Takes an event, once everything that must come before it was taken. */
  readonly take: (event: TerminalHookEvent) => Promise<HookAnswer>
}

/** A request, once it may be answered. */
export interface Call<Body = unknown> {
  /** The session in the path; empty where there is none. */
  readonly id: string
  readonly body: Body
  /** Whether it came with the master token: that of a session may be its agent's. */
  readonly isMaster: boolean
  readonly query: (name: string) => string | undefined
}

type Handled = Exclude<Operation, 'health' | 'prove' | 'openapi' | 'followEvents'>

/** A handler for every route that is answered with JSON about sessions. */
export type Handlers = { readonly [Route in Handled]: (call: Call<BodyOf<Route>>) => Promise<object> }

const granted = <T>(result: Result<T, TerminalRefusal>): T => {
  if (result.ok) return result.value
  throw problemOf(result.error)
}

/** Everything that is answered with JSON about sessions, by the name of its route. */
export const handlersFor = ({ requests, take }: HandlerDeps): Handlers => ({
  takeEvent: async ({ body }) => hookAnswerOut(await take(body)),
  takeUsage: async ({ body }) => ({ status: await usage(requests, body) }),
  registerSession: async ({ body }) => {
    const { provider_session_id: providerSessionId, runtime, cwd, model, parent_session_id, milestones } = body
    const parentSessionId = parent_session_id === undefined ? undefined : agentSessionId(parent_session_id)
    const monitor = milestones && { milestones: milestonesIn(milestones) }
    const registered = defined({ providerSessionId, runtime, cwd, model, parentSessionId, monitor })
    const { session } = granted(await requests.register(registered))
    return sessionOut(granted(await requests.view(session.id)))
  },
  listSessions: async ({ query }) => {
    const limit = query('limit')
    if (limit !== undefined && !/^([1-9]\d{0,2}|1000)$/.test(limit))
      throw new HttpProblem(400, 'input.invalid', 'The limit cannot be used: it must be a number from 1 to 1000.')
    const folder = query('working_in')
    if (folder !== undefined) return { sessions: (await requests.workingIn(folder)).map(summaryOut), next: null }
    const left = query('handing_in')
    if (left !== undefined) return { sessions: (await requests.handingIn(left)).map(summaryOut), next: null }
    const page = defined({ after: query('after'), limit: limit === undefined ? undefined : Number(limit) })
    const { items, next } = await requests.list(page)
    return { sessions: items.map(summaryOut), next: next ?? null }
  },
  showSession: async ({ id }) => sessionOut(granted(await requests.view(id))),
  recordTurns: async ({ id, body, isMaster }) => {
    const { turns, command_id } = body
    const command = command_id === undefined ? undefined : commandId(command_id)
    const recorded = granted(
      await requests.recordTurns(
        id,
        turns.map((turn) => turnIn(turn, isMaster)),
        command,
      ),
    )
    const { session } = recorded
    return { session_id: session.id, turn_ids: recorded.turns.map((turn) => turn.id), turns: session.progress.turns }
  },
  watchSession: async ({ id, body }) => {
    const { milestones, context_limit: contextLimit, notify } = body
    const settings = defined({ isEnabled: true, milestones: milestones && milestonesIn(milestones), contextLimit })
    return monitorOut(granted(await requests.watch(id, defined({ settings, notify }))))
  },
  unwatchSession: async ({ id }) => monitorOut(granted(await requests.watch(id, { settings: { isEnabled: false } }))),
  listSignals: async ({ id }) => ({ signals: granted(await requests.signals(id)).map(signalOut) }),
  acknowledgeSignals: async ({ id, body }) => {
    const { signals } = body
    return { acknowledged: granted(await requests.acknowledge(id, signals.map(signalId))) }
  },
  requestHandoff: async ({ id, body }) => {
    const { document, reason, target_agent: targetAgent, command_id } = body
    const command = command_id === undefined ? undefined : commandId(command_id)
    const handoff = defined({ document, reason, targetAgent, commandId: command })
    return handoffOut(granted(await requests.handoff(id, handoff)))
  },
  withdrawDocument: async ({ id }) => pendingOut(granted(await requests.withdraw(id))),
})

const usage = async (
  requests: TerminalRequests,
  body: BodyOf<'takeUsage'>,
): Promise<Exclude<HookOutcome, 'repeated'>> => {
  const { session_id: id, producer_time, context_window, event } = body
  if ((context_window === undefined) === (event === undefined))
    throw new HttpProblem(400, 'input.invalid', 'Send either a context_window or an event, and not both.')
  const at = instantIn(producer_time)
  const taken =
    event === undefined
      ? await requests.sample(id, { session_id: id, context_window }, at)
      : await requests.news(id, event, at)
  if (!taken.ok && taken.error.code === 'session.unknown') return 'unknown_session'
  const outcome = granted(taken)
  // The same compaction again gets the same answer; that it is complete is no news once it is logged.
  if (outcome === 'repeated') return event === 'compaction' ? 'compaction_logged' : 'ok'
  return outcome
}

/** Whether the text of a spooled file is a handoff that was kept, and no event of a hook. */
export const isKeptHandoff = (json: unknown): boolean => typeof json === 'object' && json !== null && 'handoff' in json

/** Takes a handoff that was kept while no service ran. @throws HttpProblem where a rule says no */
export const takeKeptHandoff = async (requests: TerminalRequests, json: unknown): Promise<void> => {
  const { commandId: command, handoff } = checked(keptHandoff, json)
  const { session, working_in, document, reason, target_agent: targetAgent } = handoff
  const id = session ?? (await onlyIn(requests, working_in ?? ''))
  granted(await requests.handoff(id, defined({ document, reason, targetAgent, commandId: commandId(command) })))
}

/** The session that works in the workspace of a folder, where it is the only one, or that ended there last. */
const onlyIn = async (requests: TerminalRequests, folder: string): Promise<string> => {
  const [only, another] = await requests.handingIn(folder)
  if (only === undefined || another !== undefined)
    throw new HttpProblem(
      409,
      'session.unknown',
      `${only === undefined ? 'No session works or has worked' : 'Several sessions work'} in the folder of a document that was kept. Name one: baton handoff FILE --session ID.`,
    )
  return only.id
}
