import type { HandoffMetadata } from '../../../domain/handoff/handoff.ts'
import type { Run } from '../command.ts'
import { handoffFilter } from '../handoff-filter.ts'
import { printList } from '../list-command.ts'
import { minute } from '../render-time.ts'
import { styleOf } from '../style.ts'
import { conversationFlag } from '../which-id.ts'

/** Who handed over to whom, when and why. */
export const auditQuery: Run = async (invocation) => {
  const filter = handoffFilter(invocation)
  const conversation = conversationFlag(invocation)
  await printList<HandoffMetadata>(invocation, {
    things: 'handoffs',
    look: [
      { title: 'WHEN', of: ({ initiatedAt }) => minute(initiatedAt), most: 16 },
      { title: 'WHO', of: ({ sourceAgent, targetAgent }) => `${sourceAgent} → ${targetAgent}`, most: 30 },
      { title: 'STATUS', of: ({ status }) => status, most: 9, style: ({ status }) => styleOf(status) },
      { title: 'WHY', of: ({ reason }) => reason },
    ],
    read: async (history, page) => history.listHandoffs({ ...filter, ...(await conversation(history)) }, page),
  })
}
