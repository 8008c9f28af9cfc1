import type { z } from 'zod'
import { defined } from '../../domain/kernel/defined.ts'
import { commandId, signalId } from '../../domain/kernel/ids.ts'
import { instantIn } from '../../domain/kernel/instant.ts'
import type { MessageInput, TurnInput } from '../../domain/turn/turn.ts'
import { type Milestone, milestonesAt } from '../../domain/window/milestone.ts'
import type { UsageReading } from '../../domain/window/usage-reading.ts'
import type { HookFacts, Unread } from '../../ports/terminal/wire.ts'
import type { TerminalHookEvent } from '../../services/terminal/hook-event.ts'
import { checked } from './read-body.ts'
import type { Operation } from './routes.ts'
import * as schemas from './schemas.ts'

/** Reads an event from its body, as clients post and spool it. It throws an HttpProblem. */
export type HookEventIn = (body: unknown) => TerminalHookEvent

/** Reads the events of these agents. */
export const hookEventsOf = (agents: readonly string[]): HookEventIn => {
  const schema = schemas.hookEventBody(agents)
  return (body) => eventFrom(checked(schema, body))
}

const eventFrom = (body: z.output<ReturnType<typeof schemas.hookEventBody>>): TerminalHookEvent => {
  const { commandId: command, at, event, runtime, waitMs, payload } = body
  const { session_id, transcript_path, cwd, agent_id, source, model, trigger, reason, prompt } = payload
  const input = defined({
    providerSessionId: session_id,
    transcriptPath: transcript_path,
    ...{ cwd, agentId: agent_id, source, model, trigger, reason, prompt },
    parentSessionId: payload.parent_session_id,
    within: payload.within,
    variables: payload.variables,
    costUsd: costIn(payload),
    toolCalls: toolCallsIn(payload),
    signals: payload.signals?.map(signalId),
    hiddenByHook: hiddenIn(payload),
    raw: payload,
  })
  return defined({ commandId: commandId(command), at: instantIn(at), event, runtime, waitMs, input })
}

/** The cost of the session so far, which the input of a status line has. */
const costIn = ({ cost }: Readonly<Record<string, unknown>>): number | undefined => {
  const usd = (cost as { readonly total_cost_usd?: unknown } | null | undefined)?.total_cost_usd
  return typeof usd === 'number' && Number.isFinite(usd) && usd >= 0 ? usd : undefined
}

const hiddenIn = ({ hidden_secrets: hidden }: Unread<HookFacts>): number | undefined =>
  typeof hidden === 'number' && Number.isSafeInteger(hidden) && hidden > 0 && hidden < 10_000 ? hidden : undefined

/** The ids of the tool calls that a hook is called after: of one tool, or of all that were called at once. */
const toolCallsIn = ({ tool_use_id, tool_calls }: Readonly<Record<string, unknown>>): readonly string[] | undefined => {
  const batch = Array.isArray(tool_calls) ? (tool_calls as readonly unknown[]) : []
  const ids = [tool_use_id, ...batch.map((call) => (call as { readonly tool_use_id?: unknown } | null)?.tool_use_id)]
  const named = ids.filter((id): id is string => typeof id === 'string' && id !== '')
  return named.length === 0 ? undefined : named
}

/** Reads the body of every route that has one, so that each is read once. A reader throws an HttpProblem that names every field. */
const readersFor = (agents: readonly string[]) => ({
  takeEvent: hookEventsOf(agents),
  takeUsage: reader(schemas.contextUsageBody),
  registerSession: reader(schemas.registerBody(agents)),
  recordTurns: reader(schemas.turnsBody),
  watchSession: reader(schemas.monitorBody),
  acknowledgeSignals: reader(schemas.ackBody),
  requestHandoff: reader(schemas.handoffBody),
})

const reader =
  <Schema extends z.ZodType>(schema: Schema) =>
  (body: unknown): z.output<Schema> =>
    checked(schema, body)

type Readers = ReturnType<typeof readersFor>

type Read = { readonly [Route in keyof Readers]: ReturnType<Readers[Route]> }

/** The body of a route as it was read; nothing where the route has none. */
export type BodyOf<Route extends Operation> = Route extends keyof Read ? Read[Route] : undefined

/** Reads the body of a route. It throws an HttpProblem that names every field. */
export type BodyIn = <Route extends Operation>(route: Route, json: unknown) => BodyOf<Route>

/** Reads the bodies of every route, where sessions are those of these agents. */
export const bodiesFor = (agents: readonly string[]): BodyIn => {
  const readers: Readonly<Record<string, (body: unknown) => unknown>> = readersFor(agents)
  return <Route extends Operation>(route: Route, json: unknown) => readers[route]?.(json) as BodyOf<Route>
}

/** The session that a body names by its runtime's name, of the routes that have none in their path. */
export const sessionNamedIn = (body: Read['takeEvent' | 'takeUsage' | 'registerSession']): string => {
  if ('input' in body) return body.input.providerSessionId
  return 'session_id' in body ? body.session_id : body.provider_session_id
}

/** Plain fractions get the names that people know. */
export const milestonesIn = (given: z.output<typeof schemas.milestones>): readonly Milestone[] => {
  const fractions = given.map((one) => (typeof one === 'number' ? one : one.at))
  const named = milestonesAt(fractions)
  return given.map((one, index) => (typeof one === 'number' ? (named[index] ?? { name: 'milestone', at: one }) : one))
}

type TurnOut = z.output<typeof schemas.turnsBody>['turns'][number]

/**
 * A turn as a request describes it. A program with the master token vouches for what its person said; with the token of
 * a session, which its agent may have, a user's text is of unknown origin.
 */
export const turnIn = ({ messages, usage, window_tokens, producer_time }: TurnOut, isVouchedFor: boolean): TurnInput =>
  defined({
    messages: messages.map((message) => messageIn(message, isVouchedFor)),
    usage: usageIn(usage),
    window:
      window_tokens === undefined ? undefined : { hardLimit: { tokens: window_tokens, source: 'runtime' as const } },
    producedAt: instantIn(producer_time),
  })

const messageIn = (message: TurnOut['messages'][number], isVouchedFor: boolean): MessageInput => {
  if (message.role === 'user' && !isVouchedFor) return { ...message, origin: 'unknown' }
  if (message.role !== 'assistant') return message
  const toolCalls = message.tool_calls?.map(({ call_id: callId, tool_name: toolName, argument }) =>
    defined({ callId, toolName, argument }),
  )
  return defined({ role: message.role, text: message.text, toolCalls })
}

const usageIn = (usage: TurnOut['usage']): UsageReading | undefined => {
  if (usage === undefined) return undefined
  return 'used_percentage' in usage
    ? { state: 'percentage', usedPercent: usage.used_percentage }
    : { state: 'metered', promptTokens: usage.prompt_tokens, outputTokens: usage.output_tokens }
}
