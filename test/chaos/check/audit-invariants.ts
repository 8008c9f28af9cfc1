import type { Invariant } from './invariants.ts'

/** What holds of the audit log and of receipts. */
export const AUDIT_INVARIANTS: readonly Invariant[] = [
  {
    name: 'entries count from one without a gap',
    query: `select conversation_id from batonpass.audit_entries group by conversation_id
            having min(position) <> 1 or max(position) <> count(*)`,
    breaks: 'delete from batonpass.audit_entries where position = 2',
  },
  {
    name: 'an entry follows the one before it',
    query: `select conversation_id, position from (
              select conversation_id, position, previous_hash,
                lag(hash) over (partition by conversation_id order by position) as before
              from batonpass.audit_entries) e
            where position > 1 and previous_hash is distinct from before`,
    breaks: `update batonpass.audit_entries set hash = sha256('another') where position = 1`,
  },
  {
    name: 'a stream ends where its head says',
    query: `select coalesce(h.conversation_id, e.conversation_id) as id from batonpass.audit_heads h
            full join (select distinct on (conversation_id) conversation_id, position, hash
                       from batonpass.audit_entries order by conversation_id, position desc) e
              on e.conversation_id = h.conversation_id
            where e.position is distinct from h.position or e.hash is distinct from h.hash`,
    breaks: 'update batonpass.audit_heads set position = position + 1',
  },
  {
    name: 'a conversation has a stream, and a stream has a conversation',
    query: `select coalesce(c.id, h.conversation_id) as id from batonpass.conversations c
            full join batonpass.audit_heads h on h.conversation_id = c.id
            where c.id is null or h.conversation_id is null`,
    breaks: 'delete from batonpass.audit_heads',
  },
  {
    name: 'the command of an entry has a receipt',
    query: `select distinct e.command_id from batonpass.audit_entries e
            left join batonpass.commands c on c.id = e.command_id where c.id is null`,
    breaks: 'delete from batonpass.commands',
  },
  {
    name: 'the entries of a command were written in one transaction',
    query: `select command_id from batonpass.audit_entries group by command_id having count(distinct xmin::text) > 1`,
    breaks: `update batonpass.audit_entries e set command_id = b.command_id from batonpass.audit_entries b
             where b.conversation_id = e.conversation_id and b.position = 1 and e.position = 2`,
  },
  {
    name: 'a receipt is for a conversation that is there',
    query: `select c.id from batonpass.commands c left join batonpass.conversations o on o.id = c.conversation_id
            where o.id is null`,
    breaks: 'update batonpass.commands set conversation_id = gen_random_uuid()',
  },
]
