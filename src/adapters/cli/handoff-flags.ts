import { HANDOFF_KINDS, HANDOFF_STATUSES, type HandoffKind } from '../../domain/handoff/handoff.ts'
import { defined } from '../../domain/kernel/defined.ts'
import { conversationId } from '../../domain/kernel/ids.ts'
import type { HandoffFilter } from '../../ports/history-filters.ts'
import type { CliCommand, Invocation } from './command.ts'
import { duration, moment, oneOf, parsedFlag, textFlag } from './history-args.ts'
import { LIST_FLAGS, LIST_FLAGS_HELP, notTogether, orderOf } from './list-command.ts'
import { UsageError } from './problems.ts'

/** The flags that narrow handoffs down. */
export const HANDOFF_FLAGS = {
  ...LIST_FLAGS,
  agent: { type: 'string' },
  source: { type: 'string' },
  target: { type: 'string' },
  kind: { type: 'string' },
  status: { type: 'string' },
  reason: { type: 'string' },
  since: { type: 'string' },
  until: { type: 'string' },
  conversation: { type: 'string' },
  open: { type: 'boolean' },
  overdue: { type: 'boolean' },
  'unclaimed-for': { type: 'string' },
} as const satisfies CliCommand['options']

/** What these flags mean, for a command's help. */
export const HANDOFF_FLAGS_HELP = [
  'Every flag narrows the list down further.',
  '',
  '  --agent NAME     the agent on either side; --source or --target for one side',
  `  --kind KIND      ${HANDOFF_KINDS.join(', ')}`,
  `  --status STATUS  ${HANDOFF_STATUSES.join(', ')}`,
  '  --reason WORDS   every one of these words is in the reason, whatever its case',
  '  --since TIME     initiated then or later, such as 2026-11-16 or 2026-11-16T03:45Z',
  '  --until TIME     initiated before then',
  '  --conversation ID',
  '  --open           those that still wait for an end',
  '  --overdue        those whose claim ran out',
  '  --unclaimed-for TIME  with --overdue: also those nobody claimed for so long, such as 10m',
  LIST_FLAGS_HELP,
].join('\n')

/** Which handoffs the flags ask for. */
export const handoffFilter = (invocation: Invocation): HandoffFilter => {
  notTogether(invocation, 'agent', 'source')
  notTogether(invocation, 'agent', 'target')
  const unclaimedForMs = parsedFlag(invocation, 'unclaimed-for', duration)
  const isOverdue = invocation.values.overdue === true
  if (unclaimedForMs !== undefined && !isOverdue) throw new UsageError('--unclaimed-for goes with --overdue.')
  return defined({
    agent: textFlag(invocation, 'agent'),
    sourceAgent: textFlag(invocation, 'source'),
    targetAgent: textFlag(invocation, 'target'),
    kind: parsedFlag(invocation, 'kind', oneOf(HANDOFF_KINDS)),
    status: parsedFlag(invocation, 'status', oneOf(HANDOFF_STATUSES)),
    reason: textFlag(invocation, 'reason'),
    initiatedFrom: parsedFlag(invocation, 'since', moment),
    initiatedBefore: parsedFlag(invocation, 'until', moment),
    conversationId: parsedFlag(invocation, 'conversation', conversationId),
    isOpen: invocation.values.open === true ? (true as const) : undefined,
    overdue: isOverdue ? defined({ unclaimedForMs }) : undefined,
    order: orderOf(invocation),
  })
}

/** A kind in one word, for a narrow column. */
export const kindWord = (kind: HandoffKind): string => kind.replace(/^(agent|context)_/, '')
