import type { AgentSession } from '../../domain/agent-session.ts'
import type { HandoffMetadata } from '../../domain/handoff.ts'
import type { LineageBranch } from '../../domain/lineage.ts'

/** A lineage as a tree for a terminal: sessions in order, under each the handoffs that left it, and its threads. */
export const renderLineage = (branch: LineageBranch): string => lines(branch).join('\n')

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
  const head = `session ${epoch}  ${agentName}  ${state}  ${messages}, ${count(turns, 'turn')}  since ${startedAt}`
  return [head, ...handoffs.filter(({ sourceSessionId }) => sourceSessionId === session.id).flatMap(handoffPart)]
}

const handoffPart = (handoff: HandoffMetadata): readonly string[] => {
  const { kind, status, targetAgent, reason, priorTurnId, triggeringToolCalls } = handoff
  const tools = triggeringToolCalls.map(({ toolName, sequenceNumber }) => `${toolName} (message ${sequenceNumber})`)
  return [
    `→ ${kind} to ${targetAgent}  ${status}  ${quoted(reason)}`,
    `  handoff ${handoff.id}`,
    `  after turn ${priorTurnId}`,
    `  led to by ${tools.length === 0 ? 'no tool calls' : tools.join(', ')}`,
  ]
}

const count = (number: number, word: string): string => `${number} ${word}${number === 1 ? '' : 's'}`

const quoted = (text: string): string => {
  const line = text.replaceAll(/\s+/g, ' ')
  return `"${line.length > 60 ? `${line.slice(0, 59)}…` : line}"`
}
