import {
  type AgentSession,
  type AuditEntry,
  ConfigurationError,
  type ContextWindowSnapshot,
  type Conversation,
  describeRefusal,
  type HandoffMetadata,
  hasBaton,
  isOpen,
  isTerminal,
  type Lineage,
  type Refusal,
  type RefusalCode,
  RefusedError,
  type Result,
  RuntimeFailure,
  StoreFailure,
  type ToolCallReference,
  type Turn,
  taskOf,
  totalMessages,
  WorktreeFailure,
} from '../../src/entry/index.ts'

/** Refusals after which another try, later, may succeed. */
const LATER: readonly RefusalCode[] = ['conversation.session_active', 'handoff.already_claimed', 'session.leased']

/** What to do with an answer: use it, try again later, or tell a person. */
export const settled = <T>(answer: Result<T, Refusal>): T | 'later' => {
  if (answer.ok) return answer.value
  if (LATER.includes(answer.error.code)) return 'later'
  throw new RefusedError(answer.error)
}

/** One line about whatever was thrown. */
export const explained = (problem: unknown): string => {
  if (problem instanceof RefusedError) return `refused: ${describeRefusal(problem.refusal)}`
  if (problem instanceof StoreFailure) return `the store failed (${problem.code}), retryable: ${problem.retryable}`
  if (problem instanceof RuntimeFailure || problem instanceof WorktreeFailure) return `not started: ${problem.code}`
  if (problem instanceof ConfigurationError) return `${problem.problems.length} problem(s) in the configuration`
  throw problem
}

const toolNames = (calls: readonly ToolCallReference[]): string => calls.map(({ toolName }) => toolName).join(', ')

const about = (conversation: Conversation): string => `${conversation.externalKey ?? 'job'}: ${taskOf(conversation)}`
const aboutSession = (session: AgentSession): string =>
  `${session.epoch}. ${session.agentName}: ${session.state}${hasBaton(session) ? ', has the baton' : ''}${isTerminal(session) ? ', over' : ''}`
const aboutHandoff = (handoff: HandoffMetadata): string =>
  `${handoff.sourceAgent} -> ${handoff.targetAgent}, ${isOpen(handoff) ? 'open' : handoff.status}, after ${toolNames(handoff.triggeringToolCalls)}`

/** A page of text about a conversation. */
export const page = (lineage: Lineage): readonly string[] => [
  about(lineage.conversation),
  ...lineage.sessions.map(aboutSession),
  ...lineage.handoffs.map(aboutHandoff),
]

/** A line about a turn, and what the window held when it was last looked at. */
export const line = (turn: Turn, snapshot: ContextWindowSnapshot | undefined): string =>
  `turn ${turn.number}: ${toolNames(turn.toolCalls)}; the window held ${snapshot === undefined ? 0 : totalMessages(snapshot.messages)} messages`

/** The kinds of the entries in a log, in order. */
export const kinds = (entries: readonly AuditEntry[]): string => entries.map(({ event }) => event.type).join(' ')
