import { z } from 'zod'
import type { HandoffMetadata } from '../../domain/handoff/handoff.ts'
import type { Lineage } from '../../domain/history/lineage.ts'
import { counted } from '../../domain/kernel/counted.ts'
import { err, ok } from '../../domain/kernel/result.ts'
import { inQuotes, named } from '../../domain/kernel/safe-text.ts'
import type { AgentSession } from '../../domain/session/agent-session.ts'
import { type Access, notThere } from './access.ts'
import type { Tool } from './tool.ts'

/** The newest of each are told; a conversation of a year may have more. */
const MOST = 25
const LONGEST_NAME = 200

const input = z.object({
  session: z.string().max(128).optional().describe('Another session of your conversation; your own unless given.'),
})

/** The tool with which an agent learns where its conversation came from. */
export const lineageTool = (access: Access): Tool<typeof input> => ({
  name: 'lineage',
  title: 'Lineage',
  description:
    'Tells the chain that led to you: the sessions (windows) of your conversation in order, the handoffs between them, and the conversations it came from or opened.',
  input,
  isReadOnly: true,
  call: async ({ session: named }, caller) => {
    const found = await access.session(caller, named)
    if (!found.ok) return found
    const { id, conversationId } = found.value
    const lineage = await (await access.services()).history.lineage(conversationId)
    if (lineage === undefined) return err(notThere('session'))
    const facts = factsOf(lineage, id)
    return ok({ text: textOf(facts), facts })
  },
})

type LineageFacts = ReturnType<typeof factsOf>

/** Ids, states and times. What was asked in other conversations is not told. */
const factsOf = ({ conversation, ancestors, threads, sessions, handoffs }: Lineage, own: AgentSession['id']) => ({
  conversation_id: conversation.id,
  came_from: ancestors.slice(-MOST).map(({ id }) => id),
  opened: threads.slice(-MOST).map((thread) => thread.conversation.id),
  sessions: sessions.slice(-MOST).map((session) => ({
    session_id: session.id,
    window: session.epoch,
    agent: session.agentName.slice(0, LONGEST_NAME),
    state: session.state,
    turns: session.progress.turns,
    started_at: session.startedAt,
    is_you: session.id === own,
  })),
  handoffs: handoffs.slice(-MOST).map(handoffFacts),
  left_out: { sessions: Math.max(0, sessions.length - MOST), handoffs: Math.max(0, handoffs.length - MOST) },
})

const handoffFacts = (handoff: HandoffMetadata) => ({
  handoff_id: handoff.id,
  kind: handoff.kind,
  status: handoff.status,
  from_session: handoff.sourceSessionId,
  to_session: handoff.status === 'completed' ? handoff.targetSessionId : null,
  to_agent: handoff.targetAgent.slice(0, LONGEST_NAME),
  reason: handoff.reason.slice(0, LONGEST_NAME),
  initiated_at: handoff.initiatedAt,
  has_document: handoff.document !== undefined,
})

const textOf = ({ conversation_id, came_from, opened, sessions, handoffs, left_out }: LineageFacts): string =>
  [
    `Conversation ${conversation_id}${came_from.length === 0 ? '' : `, opened by ${came_from.at(-1)}`}`,
    ...(left_out.sessions + left_out.handoffs === 0
      ? []
      : [
          `(older ones are left out: ${counted(left_out.sessions, 'session')} and ${counted(left_out.handoffs, 'handoff')})`,
        ]),
    ...sessions.flatMap((session) => [
      `window ${session.window}: ${named(session.agent)}, ${session.state}, ${counted(session.turns, 'turn')}, since ${session.started_at}${session.is_you ? ' (you)' : ''}`,
      ...handoffs
        .filter(({ from_session }) => from_session === session.session_id)
        .map(
          ({ handoff_id, kind, to_agent, status, reason }) =>
            `  → ${kind} to ${named(to_agent)}, ${status}, reason ${inQuotes(reason)} (${handoff_id})`,
        ),
    ]),
    ...opened.map((id) => `opened conversation ${id}`),
  ].join('\n')
