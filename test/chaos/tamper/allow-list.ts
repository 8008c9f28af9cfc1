import type { Way } from './tampering.ts'

/** Something that may be changed by hand without `verify` saying so, and why that is accepted. */
export interface Allowed {
  readonly table: string
  /** Every column unless one is named. */
  readonly column?: string
  /** Every way unless some are named. */
  readonly ways?: readonly Way[]
  readonly why: string
}

/** Everything that `verify` is allowed to miss. What is not in here and is missed turns the run red. */
export const ALLOWED: readonly Allowed[] = [
  { table: 'context_monitors', why: 'readings come by the thousand and are not logged; the verdict says so' },
  { table: 'context_signals', why: 'a queue that is emptied by whoever reads it; the verdict says so' },
  { table: 'session_leases', why: 'who was heard of when; it is gone within minutes; the verdict says so' },
  {
    table: 'agent_sessions',
    column: 'holder',
    why: 'a secret, so it is not in the log; it proves no past, only who may write',
  },
  {
    table: 'audit_entries',
    column: 'transaction_id',
    why: 'orders the feed across conversations; no part of what happened',
  },
  {
    table: 'audit_heads',
    column: 'transaction_id',
    why: 'orders the feed across conversations; no part of what happened',
  },
  { table: 'feed_generations', why: 'on which servers the feed was written; no part of what happened' },
  {
    table: 'handoffs',
    column: 'kept_at',
    why: 'who waited longer by the database’s clock; the log has the client’s time',
  },
  {
    table: 'handoff_tool_calls',
    column: 'ordinal',
    ways: ['change', 'borrow', 'swap'],
    why: 'only the order counts; a number that leaves it as it is means the same',
  },
  {
    table: 'tool_calls',
    column: 'position',
    ways: ['change', 'borrow', 'swap'],
    why: 'only the order counts; a number that leaves it as it is means the same',
  },
  {
    table: 'commands',
    ways: ['delete'],
    why: 'receipts are pruned when they are old, so a missing one proves nothing',
  },
  {
    table: 'commands',
    column: 'id',
    why: 'the old id then looks pruned, and the new one like a command that logged nothing; the verdict says so',
  },
  { table: 'commands', column: 'kept_at', why: 'when a receipt may be pruned; it has no part in its answer' },
  {
    table: 'commands',
    ways: ['insert'],
    why: 'a command that logged nothing has a receipt and no entry; the verdict says so',
  },
  {
    table: 'audit_salts',
    ways: ['insert'],
    why: 'a salt that no text was hashed with proves nothing and changes nothing',
  },
]

/** Why a miss is accepted; `undefined` when it is not. A whole row has no column. */
export const allowance = (way: Way, table: string, column: string | undefined): string | undefined =>
  ALLOWED.find(
    (allowed) =>
      allowed.table === table &&
      (allowed.column === undefined || allowed.column === column) &&
      (allowed.ways === undefined || allowed.ways.includes(way)),
  )?.why
