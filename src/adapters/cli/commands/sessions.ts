import { defined } from '../../../domain/kernel/defined.ts'
import { agentSessionId, type TurnId, turnId } from '../../../domain/kernel/ids.ts'
import { type AgentSession, SESSION_STATES } from '../../../domain/session/agent-session.ts'
import type { ContextMonitor } from '../../../domain/window/context-monitor.ts'
import type { HandoffHistory } from '../../../services/history/handoff-history.ts'
import { notFound, orderOf, parsedFlag, textFlag, wordFlag } from '../choose/flag-values.ts'
import { conversationFlag, conversationOf, type NamedThing } from '../choose/subject.ts'
import {
  folderColumn,
  type InConversation,
  newestSession,
  titleColumn,
  withConversations,
} from '../render/conversation-rows.ts'
import { renderBlock, renderFacts } from '../render/text.ts'
import { age } from '../render/times.ts'
import {
  describeMessages,
  describeMonitor,
  describeTotals,
  describeUsage,
  renderWindow,
} from '../render/window-facts.ts'
import { styleOf } from '../terminal/style.ts'
import { listCommand, type Noun, showCommand } from './noun.ts'

/** Sessions: listed across conversations. */
const SESSIONS: Noun<AgentSession, InConversation<AgentSession>> = {
  things: 'sessions',
  list: (invocation) => {
    const filter = defined({
      agentName: textFlag(invocation, 'agent'),
      state: parsedFlag(invocation, 'state', wordFlag(SESSION_STATES)),
      order: orderOf(invocation),
    })
    const conversation = conversationFlag(invocation, 'conversation')
    const now = Date.now()
    return {
      read: async (history, page) =>
        history.listSessions(defined({ ...filter, conversationId: await conversation(history) }), page),
      rows: withConversations,
      look: [
        { title: 'ID', of: ({ item: { id } }) => id, isId: true },
        titleColumn(({ conversation: its }) => its),
        folderColumn(({ conversation: its }) => its, invocation.environment.HOME),
        {
          ...{ title: 'STATE', most: 10, importance: 6 },
          of: ({ item: { state } }) => state,
          style: ({ item: { state } }) => styleOf(state),
        },
        { title: 'AGE', of: ({ item: { startedAt } }) => age(startedAt, now), most: 5, importance: 5 },
        { title: 'AGENT', of: ({ item: { agentName } }) => agentName, most: 14, importance: 4 },
        { title: 'EPOCH', of: ({ item: { epoch } }) => String(epoch), most: 6, importance: 2 },
        { title: 'TURNS', of: ({ item: { progress } }) => String(progress.turns), most: 6, importance: 1 },
      ],
    }
  },
  kinds: ['session'],
  show: async (history, thing) => {
    const found = await sessionOf(history, thing)
    if (found === undefined) throw notFound('conversation', 'it has no session yet')
    const monitor = await history.monitor(found.id)
    return {
      document: monitor === undefined ? found : { ...found, monitor },
      lines: (columns) => lines(found, monitor, columns),
    }
  },
}

/** Lists sessions. */
export const sessionsList = listCommand(SESSIONS)

/** Shows one session. */
export const sessionsShow = showCommand(SESSIONS)

/** A session, or the newest one of a conversation. */
const sessionOf = async (history: HandoffHistory, thing: NamedThing): Promise<AgentSession | undefined> =>
  thing.kind === 'session'
    ? history.session(agentSessionId(thing.id))
    : newestSession(history, await conversationOf(history, thing))

const lines = (
  { progress, ...session }: AgentSession,
  monitor: ContextMonitor | undefined,
  columns: number,
): readonly string[] => {
  const { range, messages, usage } = progress.window
  return [
    ...renderFacts(
      {
        session: session.id,
        conversation: session.conversationId,
        epoch: session.epoch,
        agent: session.agentName,
        backend: session.backend,
        model: session.model,
        'provider session': session.providerSessionId,
        state: session.state,
        'held by handoff': 'heldBy' in session ? session.heldBy : undefined,
        started: session.startedAt,
        'started by handoff': session.initiatedByHandoff,
        'parent session': session.parentSessionId,
        ended: 'endedAt' in session ? session.endedAt : undefined,
        'ended by handoff': 'terminatedByHandoff' in session ? session.terminatedByHandoff : undefined,
        turns: progress.turns,
        'last turn': progress.lastTurnId,
        window: range === undefined ? 'empty' : `messages ${range.start}–${range.end}: ${describeMessages(messages)}`,
        usage: describeUsage(usage),
        'used in sum': session.totals && describeTotals(session.totals),
        ...(monitor && describeMonitor(monitor)),
      },
      columns,
    ),
    ...renderBlock('Ended because', 'endReason' in session ? session.endReason : undefined, columns),
  ]
}

/** Shows what a session's window held right after a turn. */
export const sessionsWindow = showCommand({
  kinds: ['turn', 'session'],
  show: async (history, thing) => {
    const turn = await turnOf(history, thing)
    const window = await history.windowAt(turn)
    if (window === undefined) throw notFound('id', `there is no turn ${turn}`)
    return { document: window, lines: (columns) => renderWindow(window, columns) }
  },
})

/** A turn, or the last one of a session or of a conversation's newest session. @throws RefusedError */
const turnOf = async (history: HandoffHistory, thing: NamedThing): Promise<TurnId> => {
  if (thing.kind === 'turn') return turnId(thing.id)
  const session = await sessionOf(history, thing)
  if (session?.progress.lastTurnId === undefined) throw notFound(thing.kind, 'its newest session has no turn yet')
  return session.progress.lastTurnId
}
