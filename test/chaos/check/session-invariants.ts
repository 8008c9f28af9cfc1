import type { Invariant } from './invariants.ts'

/** What holds of sessions, turns and messages. */
export const SESSION_INVARIANTS: readonly Invariant[] = [
  {
    name: 'one session at most has the baton of a conversation',
    query: `select conversation_id from batonpass.agent_sessions where state = 'active' or held_by is not null
            group by conversation_id having count(*) > 1`,
    breaks: `drop index batonpass.agent_sessions_one_baton;
             update batonpass.agent_sessions s set state = 'active', held_by = null, ended_at = null, end_sequence = null,
               end_reason = null, terminated_by_handoff = null
             where conversation_id in (select conversation_id from batonpass.agent_sessions group by 1 having count(*) > 1)`,
  },
  {
    name: 'epochs count from one without a gap',
    query: `select conversation_id from batonpass.agent_sessions group by conversation_id
            having min(epoch) <> 1 or max(epoch) <> count(*)`,
    breaks: "update batonpass.agent_sessions set epoch = epoch + 1 where epoch = 1 and state = 'active'",
  },
  {
    name: 'messages count from one without a gap',
    query: `select conversation_id from batonpass.messages group by conversation_id
            having min(sequence_number) <> 1 or max(sequence_number) <> count(*)`,
    breaks: 'delete from batonpass.messages where sequence_number = 1',
  },
  {
    name: 'turns count from one without a gap, and their session knows how many there are',
    query: `select s.id from batonpass.agent_sessions s
            left join batonpass.turns t on t.conversation_id = s.conversation_id and t.session_id = s.id
            group by s.conversation_id, s.id, s.turns
            having count(t.id) <> s.turns or coalesce(min(t.number), 1) <> 1 or coalesce(max(t.number), 0) <> s.turns`,
    breaks: 'update batonpass.agent_sessions set turns = turns + 1 where turns > 0',
  },
  {
    name: 'a session names its last turn',
    query: `select s.id from batonpass.agent_sessions s
            left join batonpass.turns t
              on t.conversation_id = s.conversation_id and t.session_id = s.id and t.number = s.turns
            where s.last_turn_id is distinct from t.id`,
    breaks: 'update batonpass.agent_sessions set last_turn_id = gen_random_uuid() where turns > 0',
  },
  {
    name: 'a turn has the messages of its range, and no others',
    query: `select t.id from batonpass.turns t
            left join batonpass.messages m on m.conversation_id = t.conversation_id and m.turn_id = t.id
            group by t.conversation_id, t.id, t.session_id, t.start_sequence, t.end_sequence
            having count(m.id) <> t.end_sequence - t.start_sequence + 1
              or min(m.sequence_number) <> t.start_sequence or max(m.sequence_number) <> t.end_sequence
              or bool_or(m.session_id <> t.session_id)`,
    breaks: 'update batonpass.turns set end_sequence = end_sequence + 1',
  },
  {
    name: 'a message without a turn is the one its session opened with',
    query: `select m.id from batonpass.messages m
            join batonpass.agent_sessions s on s.conversation_id = m.conversation_id and s.id = m.session_id
            where m.turn_id is null and m.sequence_number <> s.start_sequence`,
    breaks: 'update batonpass.messages set turn_id = null',
  },
  {
    name: 'the next message goes after all there are',
    query: `select s.id from batonpass.agent_sessions s
            where (s.state = 'active' or s.held_by is not null) and s.next_sequence <>
              (select coalesce(max(m.sequence_number), 0) + 1 from batonpass.messages m where m.conversation_id = s.conversation_id)`,
    breaks: `update batonpass.agent_sessions set next_sequence = next_sequence + 5 where state = 'active'`,
  },
  {
    name: 'a tool call belongs to the turn and session of its message',
    query: `select c.call_id from batonpass.tool_calls c
            left join batonpass.messages m on m.conversation_id = c.conversation_id and m.sequence_number = c.sequence_number
            where m.turn_id is distinct from c.turn_id or m.session_id is distinct from c.session_id`,
    breaks: 'update batonpass.tool_calls set turn_id = gen_random_uuid()',
  },
  {
    name: 'a session has a monitor',
    query: `select s.id from batonpass.agent_sessions s
            left join batonpass.context_monitors m on m.conversation_id = s.conversation_id and m.session_id = s.id
            where m.session_id is null`,
    breaks: 'delete from batonpass.context_monitors',
  },
  {
    name: 'a lease is for the holder of a session that has the baton',
    query: `select l.session_id from batonpass.session_leases l
            join batonpass.agent_sessions s on s.conversation_id = l.conversation_id and s.id = l.session_id
            where l.holder <> s.holder or not (s.state = 'active' or s.held_by is not null)`,
    breaks: `insert into batonpass.session_leases (conversation_id, session_id, holder, expires_at)
             select conversation_id, id, repeat('A', 43), now() from batonpass.agent_sessions
             on conflict (conversation_id, session_id) do update set holder = excluded.holder`,
  },
  {
    name: 'an id is in one conversation only',
    query: ['agent_sessions', 'turns', 'handoffs', 'context_snapshots']
      .map((table) => `select id from batonpass.${table} group by id having count(distinct conversation_id) > 1`)
      .join(' union all '),
    breaks: `insert into batonpass.context_snapshots select (jsonb_populate_record(s, jsonb_build_object('conversation_id', gen_random_uuid()))).*
             from batonpass.context_snapshots s`,
  },
  {
    // The clients of a chaos run put the name of the command into every text, so that no two are the same.
    name: 'no message of a turn is there twice',
    query: `select text from batonpass.messages where turn_id is not null and text like '%#%'
            group by text having count(*) > 1`,
    breaks: `update batonpass.messages set text = 'Ask #twice'`,
  },
]
