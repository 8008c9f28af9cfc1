import { HANDOFF_STATUSES } from '../../../domain/handoff/handoff.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import type { HandoffFilter } from '../../../ports/store/history-filters.ts'
import { zoneIn } from '../render/render-time.ts'
import type { Invocation } from '../tree/command.ts'
import { notTogether, orderOf } from '../tree/list-command.ts'
import { UsageError } from '../tree/problems.ts'
import { duration, moment, oneOf, parsedFlag, textFlag } from './history-args.ts'
import { kindFrom } from './shown-words.ts'

/** Which handoffs the flags ask for, but for the conversation, which is looked for first. */
export const handoffFilter = (invocation: Invocation): HandoffFilter => {
  notTogether(invocation, 'agent', 'source')
  notTogether(invocation, 'agent', 'target')
  const unclaimedForMs = parsedFlag(invocation, 'unclaimed-for', duration)
  const at = (text: string) => moment(text, zoneIn(invocation))
  const isOverdue = invocation.values.overdue === true
  if (unclaimedForMs !== undefined && !isOverdue) throw new UsageError('--unclaimed-for goes with --overdue.')
  return defined({
    agent: textFlag(invocation, 'agent'),
    sourceAgent: textFlag(invocation, 'source'),
    targetAgent: textFlag(invocation, 'target'),
    kind: parsedFlag(invocation, 'kind', kindFrom),
    status: parsedFlag(invocation, 'status', oneOf(HANDOFF_STATUSES)),
    reason: textFlag(invocation, 'reason'),
    initiatedFrom: parsedFlag(invocation, 'since', at),
    initiatedBefore: parsedFlag(invocation, 'until', at),
    isOpen: invocation.values.open === true ? (true as const) : undefined,
    overdue: isOverdue ? defined({ unclaimedForMs }) : undefined,
    order: orderOf(invocation),
  })
}
