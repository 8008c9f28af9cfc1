import type { HandoffMetadata } from '../../domain/handoff/handoff.ts'
import type { Lineage, LineageBranch } from '../../domain/history/lineage.ts'
import type { AgentSession } from '../../domain/session/agent-session.ts'
import { cut, plain } from './render-text.ts'

/**
 * A lineage as a tree for a terminal: where it came from, then sessions in order, under each the handoffs that left it,
 * and its threads.
 */
export const renderLineage = ({ ancestors, ...branch }: Lineage, columns = Number.POSITIVE_INFINITY): string =>
  [...ancestors.map(({ id, originalTask }) => `from conversation ${id}  ${quoted(originalTask)}`), ...lines(branch)]
    .map((line) => cut(line, columns))
    .join('\n')

const lines = (branch: LineageBranch): readonly string[] => {
  const { conversation, sessions, threads } = branch
  const parts = [...sessions.map((session) => sessionPart(session, branch)), ...threads.map(lines)]
  const title = `conversation ${conversation.id}  ${quoted(conversation.originalTask)}`
  return [title, ...parts.flatMap((part, index) => indented(part, index === parts.length - 1))]
}

const indented = ([head = '', ...rest]: readonly string[], isLast: boolean): readonly string[] => [
  `${isLast ? '└─' : '├─'} ${head}`,
  ...rest.map((line) => `${isLast ? '  ' : '│ '} ${line}`),
]

const sessionPart = (session: AgentSession, { handoffs }: LineageBranch): readonly string[] => {
  const { epoch, agentName, state, progress, startSequence, startedAt } = session
  const { turns, lastSequence } = progress
  const messages = lastSequence === undefined ? 'no messages' : `messages ${startSequence}–${lastSequence}`
  const agent = plain(agentName)
  const head = `session ${epoch}  ${agent}  ${state}  ${messages}, ${count(turns, 'turn')}  since ${startedAt}`
  return [head, ...handoffs.filter(({ sourceSessionId }) => sourceSessionId === session.id).flatMap(handoffPart)]
}

const handoffPart = (handoff: HandoffMetadata): readonly string[] => {
  const { kind, status, targetAgent, reason, priorTurnId, triggeringToolCalls } = handoff
  const tools = triggeringToolCalls.map(
    ({ toolName, sequenceNumber }) => `${plain(toolName)} (message ${sequenceNumber})`,
  )
  return [
    `→ ${kind} to ${plain(targetAgent)}  ${status}  ${quoted(reason)}`,
    `  handoff ${handoff.id}`,
    `  after turn ${priorTurnId}`,
    `  led to by ${tools.length === 0 ? 'no tool calls' : tools.join(', ')}`,
  ]
}

const count = (number: number, word: string): string => `${number} ${word}${number === 1 ? '' : 's'}`

const quoted = (text: string): string => `"${plain(text)}"`
