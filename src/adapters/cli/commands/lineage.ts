import type { Lineage } from '../../../domain/history/lineage.ts'
import { agentSessionId, conversationId, handoffId } from '../../../domain/kernel/ids.ts'
import type { HandoffHistory } from '../../../services/handoff-history.ts'
import type { CliCommand } from '../command.ts'
import { notFound, noWords, understood } from '../history-args.ts'
import { UsageError } from '../problems.ts'
import { renderLineage } from '../render-lineage.ts'
import { toJson } from '../render-text.ts'
import { STORE_FLAGS, STORE_FLAGS_HELP } from '../store-options.ts'
import { withHistory } from '../with-history.ts'

/** Shows where a conversation came from and what became of it. */
export const lineage: CliCommand = {
  summary: 'show where a conversation came from and what became of it',
  usage: 'lineage ID',
  details: `The id of a conversation, or of any session or handoff of it.\n\n${STORE_FLAGS_HELP}`,
  options: STORE_FLAGS,
  run: async (invocation) => {
    const [word, ...rest] = invocation.positionals
    if (word === undefined) throw new UsageError('Name a conversation, a session or a handoff by its id.')
    noWords({ ...invocation, positionals: rest })
    const id = understood('The id', word, conversationId)
    await withHistory(invocation, async (history) => {
      const found = await findLineage(history, id)
      if (found === undefined) throw notFound('id', `there is no conversation, session or handoff ${id}`)
      invocation.out.line(invocation.values.json === true ? toJson(found) : renderLineage(found))
    })
  },
}

/** Ids of different things never meet, so the first that knows the id is right. */
const findLineage = async (history: HandoffHistory, id: string): Promise<Lineage | undefined> =>
  (await history.lineageOf({ conversationId: conversationId(id) })) ??
  (await history.lineageOf({ sessionId: agentSessionId(id) })) ??
  (await history.lineageOf({ handoffId: handoffId(id) }))
