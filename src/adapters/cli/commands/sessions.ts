import { defined } from '../../../domain/kernel/defined.ts'
import { agentSessionId } from '../../../domain/kernel/ids.ts'
import { type AgentSession, SESSION_STATES } from '../../../domain/session/agent-session.ts'
import { RefusedError } from '../../../domain/unwrap.ts'
import type { ContextMonitor } from '../../../domain/window/context-monitor.ts'
import type { HandoffHistory } from '../../../services/handoff-history.ts'
import type { Run } from '../command.ts'
import { idOrKey, notFound, oneOf, parsedFlag, textFlag } from '../history-args.ts'
import { orderOf, printList } from '../list-command.ts'
import { describeTotals } from '../render-checkpoint.ts'
import { renderBlock, renderFacts } from '../render-facts.ts'
import { toJson, widthOn } from '../render-text.ts'
import { minute } from '../render-time.ts'
import { describeMessages, describeMonitor, describeUsage } from '../render-window.ts'
import { styleOf } from '../style.ts'
import { conversationFlag, wholeId } from '../which-id.ts'
import { withHistory } from '../with-history.ts'

/** Lists sessions across conversations. */
export const sessionsList: Run = async (invocation) => {
  const filter = defined({
    agentName: textFlag(invocation, 'agent'),
    state: parsedFlag(invocation, 'state', oneOf(SESSION_STATES)),
    order: orderOf(invocation),
  })
  const conversation = conversationFlag(invocation)
  await printList<AgentSession>(invocation, {
    things: 'sessions',
    look: [
      { title: 'SESSION', of: ({ id }) => id, isId: true },
      { title: 'STARTED', of: ({ startedAt }) => minute(startedAt), most: 16 },
      { title: 'STATE', of: ({ state }) => state, most: 10, style: ({ state }) => styleOf(state) },
      { title: 'EPOCH', of: ({ epoch }) => String(epoch), most: 6 },
      { title: 'TURNS', of: ({ progress }) => String(progress.turns), most: 6 },
      { title: 'AGENT', of: ({ agentName }) => agentName },
    ],
    read: async (history, page) => history.listSessions({ ...filter, ...(await conversation(history)) }, page),
  })
}

/** Shows one session. */
export const sessionsShow: Run = async (invocation) => {
  const wanted = idOrKey(invocation, 'session')
  await withHistory(invocation, async (history) => {
    const id = 'id' in wanted ? await wholeId(history, 'session', wanted.id, agentSessionId) : undefined
    const found = await ('key' in wanted ? newestOf(history, wanted.key) : id && history.session(id))
    if (found === undefined && id !== undefined) throw new RefusedError({ code: 'session.not_found', sessionId: id })
    if (found === undefined) throw notFound('key', 'the conversation with this key has no session')
    const monitor = await history.monitor(found.id)
    const whole = monitor === undefined ? found : { ...found, monitor }
    invocation.out.line(
      invocation.values.json === true ? toJson(whole) : lines(found, monitor, widthOn(invocation.out)).join('\n'),
    )
  })
}

const newestOf = async (history: HandoffHistory, key: string): Promise<AgentSession | undefined> => {
  const conversation = await history.conversationByKey(key)
  if (conversation === undefined) throw notFound('key', 'no conversation has it')
  const newest = { conversationId: conversation.id, order: 'newest_first' } as const
  return (await history.listSessions(newest, { limit: 1 })).items[0]
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
