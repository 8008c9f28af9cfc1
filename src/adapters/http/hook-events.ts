import type { z } from 'zod'
import { defined } from '../../domain/kernel/defined.ts'
import { commandId, signalId } from '../../domain/kernel/ids.ts'
import { instantIn } from '../../domain/kernel/instant.ts'
import type { HookAnswer, HookEvent, TerminalSignal } from '../../services/terminal/hook-event.ts'
import { checked } from './read-body.ts'
import { type hookAnswer, hookEventBody, type signal } from './schemas.ts'

/** An event from its body, as clients post and spool it. @throws HttpProblem */
export type HookEventIn = (body: unknown) => HookEvent

/** Reads the events of these agents. */
export const hookEventsOf = (agents: readonly string[]): HookEventIn => {
  const schema = hookEventBody(agents)
  return (body) => eventFrom(checked(schema, body))
}

const eventFrom = (body: z.output<ReturnType<typeof hookEventBody>>): HookEvent => {
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

const hiddenIn = ({ hidden_secrets: hidden }: Readonly<Record<string, unknown>>): number | undefined =>
  typeof hidden === 'number' && Number.isSafeInteger(hidden) && hidden > 0 && hidden < 10_000 ? hidden : undefined

/** The ids of the tool calls that a hook is called after: of one tool, or of all that were called at once. */
const toolCallsIn = ({ tool_use_id, tool_calls }: Readonly<Record<string, unknown>>): readonly string[] | undefined => {
  const batch = Array.isArray(tool_calls) ? (tool_calls as readonly unknown[]) : []
  const ids = [tool_use_id, ...batch.map((call) => (call as { readonly tool_use_id?: unknown } | null)?.tool_use_id)]
  const named = ids.filter((id): id is string => typeof id === 'string' && id !== '')
  return named.length === 0 ? undefined : named
}

/** The answer to an event as it is sent. */
export const hookAnswerOut = ({
  outcome,
  sessionId,
  signals,
  inject,
  notice,
}: HookAnswer): z.input<typeof hookAnswer> => ({
  outcome,
  session_id: sessionId ?? null,
  signals: signals.map(signalOut),
  inject: inject ?? null,
  notice: notice ?? null,
})

/** A signal as it is sent. */
export const signalOut = ({ milestone, ...known }: TerminalSignal): z.input<typeof signal> => ({
  ...known,
  milestone: milestone ?? null,
})
