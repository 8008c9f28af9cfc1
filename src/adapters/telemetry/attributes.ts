import type { Attributes } from '@opentelemetry/api'
import { defined } from '../../domain/kernel/defined.ts'
import type { CommandEnd, MeasuredAgent, Measurement } from '../../ports/system/command-telemetry.ts'
import type { SpanEnd, SpannedHandoff, SpannedSession, SpannedTurn } from '../../ports/system/run-telemetry.ts'

/**
 * Every name that is sent. Those of GenAI follow OpenTelemetry's semantic conventions, which still change; those of
 * ours begin with `batonpass`. None of them holds what somebody wrote: a handoff's reason is not among them.
 */
const NAMES = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  conversation: 'gen_ai.conversation.id',
  agent: 'gen_ai.agent.name',
  model: 'gen_ai.request.model',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  tool: 'gen_ai.tool.name',
  tokenType: 'gen_ai.token.type',
  error: 'error.type',
  backend: 'batonpass.backend',
  session: 'batonpass.session.id',
  epoch: 'batonpass.session.epoch',
  turn: 'batonpass.turn.number',
  handoff: 'batonpass.handoff.id',
  kind: 'batonpass.handoff.kind',
  targetAgent: 'batonpass.handoff.target_agent',
  command: 'batonpass.command',
  outcome: 'batonpass.outcome',
  link: 'batonpass.link',
} as const

/** The name of the scope that all spans and metrics are of. */
export const SCOPE = 'batonpass'

/** The name of a tool call's event. */
export const TOOL_CALL = 'gen_ai.tool.call'

/** The names of spans: the action, then its agent or tool. */
export const spanName = {
  session: ({ agentName }: SpannedSession): string => `invoke_agent ${agentName}`,
  turn: (model: string | undefined): string => (model === undefined ? 'chat' : `chat ${model}`),
  handoff: ({ kind }: SpannedHandoff): string => `handoff ${kind}`,
} as const

/** Says who answers in a backend, by OpenTelemetry's name; nothing where no agent of ours is known to. */
export type ProviderOf = (backend: string) => string | undefined

/** A backend that is not one of an agent of ours stands for itself, but where it begins with a name of the conventions. */
const providerIn = (backend: string, providerOf: ProviderOf): string =>
  providerOf(backend) ?? (backend.startsWith('openai') ? 'openai' : backend)

/** The attributes of every span of a session. */
export const ofEvery = (session: SpannedSession, providerOf: ProviderOf): Attributes => ({
  [NAMES.provider]: providerIn(session.backend, providerOf),
  [NAMES.conversation]: session.conversationId,
  [NAMES.agent]: session.agentName,
  [NAMES.session]: session.sessionId,
})

/** The attributes of a session's span. */
export const ofSession = (session: SpannedSession, providerOf: ProviderOf): Attributes => ({
  ...ofEvery(session, providerOf),
  ...defined({ [NAMES.model]: session.model }),
  [NAMES.operation]: 'invoke_agent',
  [NAMES.backend]: session.backend,
  [NAMES.epoch]: session.epoch,
})

/** The attributes of a turn's span. */
export const ofTurn = (turn: SpannedTurn, model: string | undefined): Attributes => ({
  [NAMES.operation]: 'chat',
  [NAMES.turn]: turn.number,
  ...defined({
    [NAMES.model]: model,
    [NAMES.inputTokens]: turn.inputTokens,
    [NAMES.outputTokens]: turn.outputTokens,
  }),
})

/** The attributes of a tool call. */
export const ofTool = (name: string): Attributes => ({ [NAMES.tool]: name })

/** The attributes of a handoff's span. */
export const ofHandoff = ({ handoffId, kind }: SpannedHandoff): Attributes => ({
  [NAMES.operation]: 'handoff',
  [NAMES.handoff]: handoffId,
  [NAMES.kind]: kind,
})

/** The attributes at an end. The message of an error goes into the status, not here. */
export const ofEnd = ({ outcome, error }: SpanEnd): Attributes => ({
  [NAMES.outcome]: outcome,
  ...(error === undefined ? {} : { [NAMES.error]: outcome }),
})

/** Which side of a handoff a link leads to. */
export const ofLink = (to: 'predecessor' | 'successor'): Attributes => ({ [NAMES.link]: to })

/** The attributes of a command's span. */
export const ofCommand = (name: string): Attributes => ({ [NAMES.command]: name })

/** The attributes at the end of a command: its outcome, and what it was about. */
export const ofCommandEnd = ({ outcome, conversationId, sessionId, handoffId }: CommandEnd): Attributes => ({
  [NAMES.outcome]: outcome,
  ...defined({ [NAMES.conversation]: conversationId, [NAMES.session]: sessionId, [NAMES.handoff]: handoffId }),
})

/** The attributes of a command that failed: the code of the failure, never its message. */
export const ofFailure = (error: unknown): Attributes => {
  const { code, name } = (error ?? {}) as { readonly code?: unknown; readonly name?: unknown }
  const type = [code, name].find((each) => typeof each === 'string') ?? 'unknown'
  return { [NAMES.outcome]: 'failed', [NAMES.error]: String(type) }
}

type Measured<Type extends Measurement['type']> = Extract<Measurement, { readonly type: Type }>

/** The attributes of what is measured about an agent. Metrics have no ids: each value of an attribute costs memory. */
export const ofAgent = ({ agentName, backend, model }: MeasuredAgent, providerOf: ProviderOf): Attributes => ({
  [NAMES.provider]: providerIn(backend, providerOf),
  [NAMES.agent]: agentName,
  ...defined({ [NAMES.model]: model }),
})

/** The attributes of tokens. */
export const ofTokens = (agent: MeasuredAgent, type: 'input' | 'output', providerOf: ProviderOf): Attributes => ({
  ...ofAgent(agent, providerOf),
  [NAMES.operation]: 'chat',
  [NAMES.tokenType]: type,
})

/** The attributes of handoffs in metrics. */
export const ofMeasuredHandoff = ({ kind, outcome, sourceAgent, targetAgent }: Measured<'handoff'>): Attributes => ({
  [NAMES.kind]: kind,
  [NAMES.outcome]: outcome,
  [NAMES.agent]: sourceAgent,
  [NAMES.targetAgent]: targetAgent,
})

/** The attributes of claims. */
export const ofClaim = ({ kind, targetAgent }: Measured<'claim'>): Attributes => ({
  [NAMES.kind]: kind,
  [NAMES.targetAgent]: targetAgent,
})

/** The attributes of restarts. */
export const ofRestart = ({ agentName, outcome }: Measured<'restart'>): Attributes => ({
  [NAMES.agent]: agentName,
  [NAMES.outcome]: outcome,
})

/** The attributes of the time that a session took. */
export const ofSessionTime = (session: SpannedSession, providerOf: ProviderOf): Attributes => ({
  ...ofAgent(session, providerOf),
  [NAMES.operation]: 'invoke_agent',
})
