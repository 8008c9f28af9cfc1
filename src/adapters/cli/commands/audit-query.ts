import type { HandoffMetadata } from '../../../domain/handoff/handoff.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import { handoffFilter } from '../choose/handoff-filter.ts'
import { conversationFlag } from '../choose/subject.ts'
import { minuteIn, zoneIn } from '../render/render-time.ts'
import { styleOf } from '../terminal/style.ts'
import type { Run } from '../tree/command.ts'
import { asTheyAre, printList } from '../tree/list-command.ts'

/** Who handed over to whom, when and why. */
export const auditQuery: Run = async (invocation) => {
  const filter = handoffFilter(invocation)
  const conversation = conversationFlag(invocation, 'conversation')
  const minute = minuteIn(zoneIn(invocation))
  await printList<HandoffMetadata, HandoffMetadata>(invocation, {
    things: 'handoffs',
    look: [
      { title: 'WHEN', of: ({ initiatedAt }) => minute(initiatedAt), most: 16, isTime: true, importance: 4 },
      { title: 'WHO', of: ({ sourceAgent, targetAgent }) => `${sourceAgent} → ${targetAgent}`, importance: 5 },
      { title: 'STATUS', of: ({ status }) => status, most: 9, importance: 2, style: ({ status }) => styleOf(status) },
      { title: 'WHY', of: ({ reason }) => reason },
    ],
    read: async (history, page) =>
      history.listHandoffs(defined({ ...filter, conversationId: await conversation(history) }), page),
    rows: asTheyAre,
  })
}
