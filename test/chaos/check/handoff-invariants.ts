import type { Invariant } from './invariants.ts'

const OPEN = `status in ('initiated', 'accepted')`

/** What holds of handoffs. */
export const HANDOFF_INVARIANTS: readonly Invariant[] = [
  {
    name: 'one handoff at most of a conversation is open',
    query: `select conversation_id from batonpass.handoffs where ${OPEN} group by conversation_id having count(*) > 1`,
    breaks: `drop index batonpass.handoffs_one_open;
             insert into batonpass.handoffs
             select (jsonb_populate_record(h, jsonb_build_object('id', gen_random_uuid()))).* from batonpass.handoffs h where ${OPEN}`,
  },
  {
    name: 'a handoff is open if and only if its source is held by it',
    query: `select h.id from batonpass.handoffs h
            join batonpass.agent_sessions s on s.conversation_id = h.conversation_id and s.id = h.source_session_id
            where h.${OPEN} and s.held_by is distinct from h.id
            union all
            select s.id from batonpass.agent_sessions s
            left join batonpass.handoffs h on h.conversation_id = s.conversation_id and h.id = s.held_by
            where s.held_by is not null and (h.source_session_id is distinct from s.id or not (h.${OPEN}))`,
    breaks: 'update batonpass.agent_sessions set held_by = null',
  },
  {
    name: 'a handoff has the turn that led to it, in its own conversation',
    query: `select h.id from batonpass.handoffs h
            left join batonpass.turns t on t.conversation_id = h.conversation_id and t.id = h.prior_turn_id
            where t.id is null`,
    breaks: 'update batonpass.handoffs set prior_turn_id = gen_random_uuid()',
  },
  {
    name: 'the tool calls that led to a handoff are there, and in order',
    query: `select x.handoff_id from batonpass.handoff_tool_calls x
            left join batonpass.tool_calls c on c.conversation_id = x.conversation_id and c.call_id = x.call_id
              and c.sequence_number = x.sequence_number
            where c.call_id is null
            union all
            select handoff_id from batonpass.handoff_tool_calls group by conversation_id, handoff_id
            having max(ordinal) - min(ordinal) + 1 <> count(*)`,
    breaks: 'delete from batonpass.tool_calls',
  },
  {
    name: 'a completed handoff led to a session that says so',
    query: `select h.id from batonpass.handoffs h
            left join batonpass.agent_sessions s on s.id = h.target_session_id
              and s.conversation_id = coalesce(h.target_conversation_id, h.conversation_id)
            where h.status = 'completed' and s.initiated_by_handoff is distinct from h.id
            union all
            select s.id from batonpass.agent_sessions s
            left join batonpass.handoffs h on h.id = s.initiated_by_handoff
            where s.initiated_by_handoff is not null and h.target_session_id is distinct from s.id`,
    breaks: 'update batonpass.agent_sessions set initiated_by_handoff = null',
  },
  {
    name: 'a session that was handed off was so by a completed handoff of its own',
    query: `select s.id from batonpass.agent_sessions s
            left join batonpass.handoffs h on h.conversation_id = s.conversation_id and h.id = s.terminated_by_handoff
            where s.state = 'handed_off' and (h.source_session_id is distinct from s.id or h.status <> 'completed')`,
    breaks: `update batonpass.agent_sessions set terminated_by_handoff = gen_random_uuid() where state = 'handed_off'`,
  },
  {
    name: 'a thread leads into a child of its conversation',
    query: `select h.id from batonpass.handoffs h
            left join batonpass.conversations c on c.id = h.target_conversation_id
            where h.kind = 'thread' and c.parent_id is distinct from h.conversation_id`,
    breaks: 'update batonpass.conversations set parent_id = null',
  },
  {
    name: 'a claim ends after it began',
    query: 'select id from batonpass.handoffs where claim_deadline <= accepted_at',
    breaks: `alter table batonpass.handoffs drop constraint handoffs_claim_whole;
             update batonpass.handoffs set claim_deadline = accepted_at - interval '1 second' where claimant is not null`,
  },
]
