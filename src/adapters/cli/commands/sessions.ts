import { defined } from '../../../domain/kernel/defined.ts'
import { agentSessionId } from '../../../domain/kernel/ids.ts'
import { type AgentSession, SESSION_STATES } from '../../../domain/session/agent-session.ts'
import type { ContextMonitor } from '../../../domain/window/context-monitor.ts'
import type { HandoffHistory } from '../../../services/history/handoff-history.ts'
import { notFound, oneOf, parsedFlag, textFlag } from '../choose/history-args.ts'
import type { NamedThing } from '../choose/matching-things.ts'
import { conversationFlag, conversationOf, subjectIn } from '../choose/subject.ts'
import { withHistory } from '../choose/with-history.ts'
import {
  folderColumn,
  type InConversation,
  newestSession,
  titleColumn,
  withConversations,
} from '../render/conversation-rows.ts'
import { age } from '../render/render-age.ts'
import { describeTotals } from '../render/render-checkpoint.ts'
import { renderBlock, renderFacts } from '../render/render-facts.ts'
import { toJson, widthOn } from '../render/render-text.ts'
import { describeMessages, describeMonitor, describeUsage } from '../render/render-window.ts'
import { styleOf } from '../terminal/style.ts'
import type { Run } from '../tree/command.ts'
import { orderOf, printList } from '../tree/list-command.ts'

/** Lists sessions across conversations. */
export const sessionsList: Run = async (invocation) => {
  const filter = defined({
    agentName: textFlag(invocation, 'agent'),
    state: parsedFlag(invocation, 'state', oneOf(SESSION_STATES)),
    order: orderOf(invocation),
  })
  const conversation = conversationFlag(invocation, 'conversation')
  const now = Date.now()
  await printList<AgentSession, InConversation<AgentSession>>(invocation, {
    things: 'sessions',
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
  })
}

/** Shows one session. */
export const sessionsShow: Run = async (invocation) => {
  const subject = subjectIn(invocation, { kinds: ['session'] })
  await withHistory(invocation, async (history) => {
    const found = await sessionOf(history, await subject(history))
    const monitor = await history.monitor(found.id)
    const whole = monitor === undefined ? found : { ...found, monitor }
    invocation.out.line(
      invocation.values.json === true ? toJson(whole) : lines(found, monitor, widthOn(invocation.out)).join('\n'),
    )
  })
}

/** A session, or the newest one of a conversation. @throws RefusedError */
const sessionOf = async (history: HandoffHistory, thing: NamedThing): Promise<AgentSession> => {
  const found =
    thing.kind === 'session'
      ? await history.session(agentSessionId(thing.id))
      : await newestSession(history, await conversationOf(history, thing))
  if (found === undefined) throw notFound('conversation', 'it has no session yet')
  return found
}

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
