import type { LineageSubject } from '../../../domain/history/lineage.ts'
import { agentSessionId, conversationId, handoffId } from '../../../domain/kernel/ids.ts'
import type { HandoffHistory } from '../../../services/handoff-history.ts'
import type { Run } from '../command.ts'
import { type IdOrKey, idOrKey, notFound } from '../history-args.ts'
import { renderLineage, sessionsIn } from '../render-lineage.ts'
import { toJson } from '../render-text.ts'
import { findId } from '../which-id.ts'
import { withHistory } from '../with-history.ts'

/** Shows where a conversation came from and what happened to it. */
export const lineage: Run = async (invocation) => {
  const wanted = idOrKey(invocation, 'conversation, session or handoff')
  await withHistory(invocation, async (history) => {
    const found = await history.lineageOf(await subjectOf(history, wanted))
    if (found === undefined) throw notFound('id', 'there is no conversation, session or handoff with it')
    const { out, values } = invocation
    if (values.json === true) return out.line(toJson(found))
    out.line(renderLineage(found, out.columns, await history.lookBackCounts(sessionsIn(found))))
  })
}

const subjectOf = async (history: HandoffHistory, wanted: IdOrKey): Promise<LineageSubject> => {
  if ('key' in wanted) {
    const conversation = await history.conversationByKey(wanted.key)
    if (conversation === undefined) throw notFound('key', 'no conversation has it')
    return { conversationId: conversation.id }
  }
  const { kind, id } = await findId(history, ['conversation', 'session', 'handoff'], wanted.id)
  if (kind === 'session') return { sessionId: agentSessionId(id) }
  return kind === 'handoff' ? { handoffId: handoffId(id) } : { conversationId: conversationId(id) }
}
