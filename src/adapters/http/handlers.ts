import type { z } from 'zod'
import { defined } from '../../domain/kernel/defined.ts'
import { agentSessionId, commandId, signalId } from '../../domain/kernel/ids.ts'
import { instantIn } from '../../domain/kernel/instant.ts'
import type { Result } from '../../domain/kernel/result.ts'
import { type Milestone, milestonesAt } from '../../domain/window/milestone.ts'
import type { HookAnswer, HookEvent, HookOutcome } from '../../services/terminal/hook-event.ts'
import type { TerminalRefusal } from '../../services/terminal/terminal-refusal.ts'
import type { TerminalRequests } from '../../services/terminal/terminal-requests.ts'
import { hookAnswerOut, hookEventsOf, signalOut } from './hook-events.ts'
import { HttpProblem, problemOf } from './problems.ts'
import { checked } from './read-body.ts'
import type { Operation } from './routes.ts'
import * as schemas from './schemas.ts'
import { handoffOut, monitorOut, pendingOut, sessionOut, summaryOut } from './session-views.ts'
import { turnIn } from './turns-in.ts'

/** The parts that the handlers work with. */
export interface HandlerDeps {
  readonly requests: TerminalRequests
  /** The terminal agents there are, by their names. */
  readonly agents: readonly string[]
  /** Takes an event, once everything that must come before it was taken. */
  readonly take: (event: HookEvent) => Promise<HookAnswer>
}

/** A request, once it may be answered. */
export interface Call {
  /** The session in the path; empty where there is none. */
  readonly id: string
  readonly body: unknown
  /** Whether it came with the master token: that of a session may be its agent's. */
  readonly isMaster: boolean
  readonly query: (name: string) => string | undefined
}

type Handled = Exclude<Operation, 'health' | 'prove' | 'openapi' | 'followEvents'>

const granted = <T>(result: Result<T, TerminalRefusal>): T => {
  if (result.ok) return result.value
  throw problemOf(result.error)
}

/** Everything that is answered with JSON about sessions, by the name of its route. */
export const handlersFor = ({
  requests,
  take,
  agents,
}: HandlerDeps): Readonly<Record<Handled, (call: Call) => Promise<unknown>>> => {
  const hookEventIn = hookEventsOf(agents)
  const registerBody = schemas.registerBody(agents)
  return {
    takeEvent: async ({ body }) => hookAnswerOut(await take(hookEventIn(body))),
    takeUsage: async ({ body }) => ({ status: await usage(requests, checked(schemas.contextUsageBody, body)) }),
    registerSession: async ({ body }) => {
      const {
        provider_session_id: providerSessionId,
        runtime,
        cwd,
        model,
        parent_session_id,
        milestones,
      } = checked(registerBody, body)
      const parentSessionId = parent_session_id === undefined ? undefined : agentSessionId(parent_session_id)
      const monitor = milestones && { milestones: milestonesIn(milestones) }
      const asked = defined({ providerSessionId, runtime, cwd, model, parentSessionId, monitor })
      const { session } = granted(await requests.register(asked))
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
      const { turns, command_id } = checked(schemas.turnsBody, body)
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
      const { milestones, context_limit: contextLimit, notify } = checked(schemas.monitorBody, body)
      const settings = defined({ isEnabled: true, milestones: milestones && milestonesIn(milestones), contextLimit })
      return monitorOut(granted(await requests.watch(id, defined({ settings, notify }))))
    },
    unwatchSession: async ({ id }) => monitorOut(granted(await requests.watch(id, { settings: { isEnabled: false } }))),
    listSignals: async ({ id }) => ({ signals: granted(await requests.signals(id)).map(signalOut) }),
    acknowledgeSignals: async ({ id, body }) => {
      const { signals } = checked(schemas.ackBody, body)
      return { acknowledged: granted(await requests.acknowledge(id, signals.map(signalId))) }
    },
    requestHandoff: async ({ id, body }) => {
      const { document, reason, target_agent: targetAgent, command_id } = checked(schemas.handoffBody, body)
      const command = command_id === undefined ? undefined : commandId(command_id)
      const asked = defined({ document, reason, targetAgent, commandId: command })
      return handoffOut(granted(await requests.handoff(id, asked)))
    },
    withdrawDocument: async ({ id }) => pendingOut(granted(await requests.withdraw(id))),
  }
}

/** Plain fractions get the names that people know. */
const milestonesIn = (given: z.output<typeof schemas.milestones>): readonly Milestone[] => {
  const fractions = given.map((one) => (typeof one === 'number' ? one : one.at))
  const named = milestonesAt(fractions)
  return given.map((one, index) => (typeof one === 'number' ? (named[index] ?? { name: 'milestone', at: one }) : one))
}

const usage = async (
  requests: TerminalRequests,
  body: z.output<typeof schemas.contextUsageBody>,
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

/** The session that the body of a route names, for the routes that have none in their path. */
export const sessionNamesOf = (agents: readonly string[]): ((operation: Operation, body: unknown) => string) => {
  const hookEventIn = hookEventsOf(agents)
  const registerBody = schemas.registerBody(agents)
  return (operation, body) => {
    if (operation === 'takeEvent') return hookEventIn(body).input.providerSessionId
    if (operation === 'takeUsage') return checked(schemas.contextUsageBody, body).session_id
    return checked(registerBody, body).provider_session_id
  }
}
