import type { HandoffMetadata } from '../../../domain/handoff/handoff.ts'
import type { CliCommand } from '../command.ts'
import { HANDOFF_FLAGS, HANDOFF_FLAGS_HELP, handoffFilter } from '../handoff-flags.ts'
import { printList } from '../list-command.ts'
import { minute } from '../render-time.ts'

/** Who handed over to whom, when and why. */
export const auditQuery: CliCommand = {
  summary: 'ask who handed over to whom, when and why, in any conversation',
  usage: 'audit query [flags]',
  details: `"baton handoffs list" takes the same flags and shows the ids; so does --json.\n\n${HANDOFF_FLAGS_HELP}`,
  options: HANDOFF_FLAGS,
  run: async (invocation) => {
    const filter = handoffFilter(invocation)
    await printList<HandoffMetadata>(invocation, {
      things: 'handoffs',
      columns: [
        { title: 'WHEN', of: ({ initiatedAt }) => minute(initiatedAt), most: 16 },
        { title: 'WHO', of: ({ sourceAgent, targetAgent }) => `${sourceAgent} → ${targetAgent}`, most: 30 },
        { title: 'STATUS', of: ({ status }) => status, most: 9 },
        { title: 'WHY', of: ({ reason }) => reason },
      ],
      read: (history, page) => history.listHandoffs(filter, page),
    })
  },
}
