import type { LineageSubject } from '../../../domain/history/lineage.ts'
import { agentSessionId, conversationId, handoffId } from '../../../domain/kernel/ids.ts'
import { notFound } from '../choose/history-args.ts'
import type { NamedThing } from '../choose/matching-things.ts'
import { subjectIn } from '../choose/subject.ts'
import { withHistory } from '../choose/with-history.ts'
import { renderLineage, sessionsIn } from '../render/render-lineage.ts'
import { toJson } from '../render/render-text.ts'
import type { Run } from '../tree/command.ts'

/** Shows where a conversation came from and what happened to it. */
export const lineage: Run = async (invocation) => {
  const subject = subjectIn(invocation, { kinds: ['conversation', 'session', 'handoff'] })
  await withHistory(invocation, async (history) => {
    const found = await history.lineageOf(lineageSubject(await subject(history)))
    if (found === undefined) throw notFound('id', 'there is no conversation, session or handoff with it')
    const { out, values } = invocation
    if (values.json === true) return out.line(toJson(found))
    out.line(renderLineage(found, out.columns, await history.lookBackCounts(sessionsIn(found))))
  })
}

const lineageSubject = ({ kind, id }: NamedThing): LineageSubject => {
  if (kind === 'session') return { sessionId: agentSessionId(id) }
  return kind === 'handoff' ? { handoffId: handoffId(id) } : { conversationId: conversationId(id) }
}
