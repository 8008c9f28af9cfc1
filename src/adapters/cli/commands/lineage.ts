import type { Lineage } from '../../../domain/history/lineage.ts'
import { agentSessionId, conversationId, handoffId } from '../../../domain/kernel/ids.ts'
import type { HandoffHistory } from '../../../services/handoff-history.ts'
import type { Run } from '../command.ts'
import { notFound, understood } from '../history-args.ts'
import { UsageError } from '../problems.ts'
import { renderLineage } from '../render-lineage.ts'
import { toJson } from '../render-text.ts'
import { withHistory } from '../with-history.ts'

/** Shows where a conversation came from and what became of it. */
export const lineage: Run = async (invocation) => {
  const [word] = invocation.positionals
  if (word === undefined) throw new UsageError('Name a conversation, a session or a handoff by its id.')
  const id = understood('The id', word, conversationId)
  await withHistory(invocation, async (history) => {
    const found = await findLineage(history, id)
    if (found === undefined) throw notFound('id', `there is no conversation, session or handoff ${id}`)
    invocation.out.line(invocation.values.json === true ? toJson(found) : renderLineage(found, invocation.out.columns))
  })
}

/** Ids of different things never meet, so the first that knows the id is right. */
const findLineage = async (history: HandoffHistory, id: string): Promise<Lineage | undefined> =>
  (await history.lineageOf({ conversationId: conversationId(id) })) ??
  (await history.lineageOf({ sessionId: agentSessionId(id) })) ??
  (await history.lineageOf({ handoffId: handoffId(id) }))
