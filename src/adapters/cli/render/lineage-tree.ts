import type { HandoffMetadata } from '../../../domain/handoff/handoff.ts'
import type { Lineage, LineageBranch } from '../../../domain/history/lineage.ts'
import { counted } from '../../../domain/kernel/counted.ts'
import type { AgentSessionId } from '../../../domain/kernel/ids.ts'
import type { AgentSession } from '../../../domain/session/agent-session.ts'
import { plain, wrapped } from './text.ts'

/**
 * A lineage as a tree for a terminal: where it came from, then sessions in order, under each the handoffs that left it,
 * and its threads.
 */
export const renderLineage = (
  { ancestors, ...branch }: Lineage,
  columns = Number.POSITIVE_INFINITY,
  lookBacks: LookBackCounts = new Map(),
): string =>
  [
    ...ancestors.map(({ id, originalTask }) => `from conversation ${id}  ${inQuotationMarks(originalTask)}`),
    ...lines(branch, lookBacks),
  ]
    .flatMap((line) => wrapped(line, columns, hangOf(line)))
    .join('\n')

/** Where a line that is too long continues: below its own beginning, inside its branches of the tree. */
const hangOf = (line: string): string => {
  const [branches = ''] = /^[│├└─ ]*/u.exec(line) ?? []
  return `${branches.replaceAll('├─', '│ ').replaceAll('└─', '  ')}  `
}

/** How often sessions looked back. */
type LookBackCounts = ReadonlyMap<AgentSessionId, number>

/** The sessions of a lineage, those of its threads too. */
export const sessionIdsIn = ({ sessions, threads }: LineageBranch): readonly AgentSessionId[] => [
  ...sessions.map(({ id }) => id),
  ...threads.flatMap(sessionIdsIn),
]

const lines = (branch: LineageBranch, lookBacks: LookBackCounts): readonly string[] => {
  const { conversation, sessions, threads } = branch
  const parts = [
    ...sessions.map((session) => sessionPart(session, branch, lookBacks.get(session.id))),
    ...threads.map((thread) => lines(thread, lookBacks)),
  ]
  const title = `conversation ${conversation.id}  ${inQuotationMarks(conversation.originalTask)}`
  return [title, ...parts.flatMap((part, index) => indented(part, index === parts.length - 1))]
}

const indented = ([head = '', ...rest]: readonly string[], isLast: boolean): readonly string[] => [
  `${isLast ? '└─' : '├─'} ${head}`,
  ...rest.map((line) => `${isLast ? '  ' : '│ '} ${line}`),
]

const sessionPart = (session: AgentSession, { handoffs }: LineageBranch, lookedBack = 0): readonly string[] => {
  const { epoch, agentName, state, progress, startSequence, startedAt } = session
  const { turns, lastSequence } = progress
  const messages = lastSequence === undefined ? 'no messages' : `messages ${startSequence}–${lastSequence}`
  const agent = plain(agentName)
  const head = `session ${epoch}  ${agent}  ${state}  ${messages}, ${counted(turns, 'turn')}  since ${startedAt}`
  const lookBackLines = lookedBack === 0 ? [] : [`looked back ${counted(lookedBack, 'time')}`]
  return [
    head,
    ...lookBackLines,
    ...handoffs.filter(({ sourceSessionId }) => sourceSessionId === session.id).flatMap(handoffPart),
  ]
}

const handoffPart = (handoff: HandoffMetadata): readonly string[] => {
  const { kind, status, targetAgent, reason, priorTurnId, triggeringToolCalls } = handoff
  const tools = triggeringToolCalls.map(
    ({ toolName, sequenceNumber }) => `${plain(toolName)} (message ${sequenceNumber})`,
  )
  return [
    `→ ${kind} to ${plain(targetAgent)}  ${status}  ${inQuotationMarks(reason)}`,
    `  handoff ${handoff.id}`,
    `  after turn ${priorTurnId}`,
    `  led to by ${tools.length === 0 ? 'no tool calls' : tools.join(', ')}`,
  ]
}

const inQuotationMarks = (text: string): string => `"${plain(text)}"`
