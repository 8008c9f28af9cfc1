-- What decisions are based on, each answer in one read. As functions, so that their plans are kept behind a pooler too;
-- without sequential scans, so that a plan made while a table was small does not read all of it when it has grown.

create or replace function batonpass.repeated_command_v1(command uuid) returns jsonb language sql stable as $$
  select jsonb_build_object('digest', digest, 'receipt', receipt) from batonpass.commands where id = command
$$;
comment on function batonpass.repeated_command_v1 is 'What a command answered, if it was carried out before.';

-- Where the next session and the next message of a conversation go.
create or replace function batonpass.conversation_tail_v1(conversation uuid) returns jsonb language sql stable as $$
  select jsonb_build_object(
    'last_epoch', coalesce((
      select epoch from batonpass.agent_sessions where conversation_id = conversation order by epoch desc limit 1), 0),
    'next_sequence', coalesce((
      select sequence_number from batonpass.messages where conversation_id = conversation
      order by sequence_number desc limit 1), 0) + 1)
$$;
comment on function batonpass.conversation_tail_v1 is 'Where the next session and the next message go.';

-- What a conversation has used of its budget, going by its record.
create or replace function batonpass.budget_use_v1(conversation uuid) returns jsonb language sql stable as $$
  select jsonb_build_object(
    'restarts', (
      select count(*) from batonpass.handoffs h
      where h.conversation_id = conversation and h.kind = 'context_restart'),
    'takeovers', coalesce((
      select sum(s.takeovers) from batonpass.agent_sessions s where s.conversation_id = conversation), 0),
    'first_started_at', (
      select s.started_at from batonpass.agent_sessions s
      where s.conversation_id = conversation order by s.epoch limit 1),
    'cost_usd', coalesce((
        select sum((s.totals ->> 'costUsd')::double precision) from batonpass.agent_sessions s
        where s.conversation_id = conversation), 0)
      + coalesce((
        select sum((h.checkpoint -> 'totals' ->> 'costUsd')::double precision) from batonpass.handoffs h
        where h.conversation_id = conversation), 0))
$$;
comment on function batonpass.budget_use_v1 is 'What a conversation has used of its budget.';

-- The same, and the handoff that a session to be restarted came from.
create or replace function batonpass.restart_use_v1(source batonpass.agent_sessions) returns jsonb language sql stable as $$
  select batonpass.budget_use_v1(source.conversation_id) || jsonb_build_object(
    'came_from', (
      select jsonb_build_object('kind', h.kind, 'flags', h.flags) from batonpass.handoffs h
      where h.conversation_id = source.conversation_id and h.id = source.initiated_by_handoff))
  where source.id is not null
$$;
comment on function batonpass.restart_use_v1 is 'What a conversation has used of its budget when a session is to be restarted.';

create or replace function batonpass.named_tool_calls_v1(conversation uuid, calls text[]) returns jsonb language sql stable as $$
  select coalesce(jsonb_agg(
    jsonb_strip_nulls(jsonb_build_object(
      'callId', latest.call_id, 'toolName', latest.tool_name, 'messageId', message.id,
      'sequenceNumber', latest.sequence_number, 'argument', latest.argument))
    order by latest.sequence_number, latest.position), '[]'::jsonb)
  from unnest(calls) as asked (call_id)
  cross join lateral (
    select * from batonpass.tool_calls call
    where call.conversation_id = conversation and call.call_id = asked.call_id
    order by call.sequence_number desc limit 1) as latest
  join batonpass.messages message
    on message.conversation_id = latest.conversation_id and message.sequence_number = latest.sequence_number
$$;
comment on function batonpass.named_tool_calls_v1 is 'The latest use of each of these calls in a conversation, in order.';

create or replace function batonpass.latest_tool_calls_v1(conversation uuid, session uuid, first bigint, last bigint, most integer)
returns jsonb language sql stable as $$
  select coalesce(jsonb_agg(
    jsonb_build_object(
      'callId', latest.call_id, 'toolName', latest.tool_name, 'messageId', message.id,
      'sequenceNumber', latest.sequence_number)
    order by latest.sequence_number, latest.position), '[]'::jsonb)
  from (
    select * from batonpass.tool_calls call
    where call.conversation_id = conversation and call.session_id = session
      and call.sequence_number >= first and (last is null or call.sequence_number <= last)
    order by call.sequence_number desc, call.position desc limit most) as latest
  join batonpass.messages message
    on message.conversation_id = latest.conversation_id and message.sequence_number = latest.sequence_number
$$;
comment on function batonpass.latest_tool_calls_v1 is 'The latest tool calls of a session within a range, in order.';

create or replace function batonpass.last_tool_calls_v1(source batonpass.agent_sessions, most integer) returns jsonb language sql stable as $$
  select batonpass.latest_tool_calls_v1(source.conversation_id, source.id, t.start_sequence, t.end_sequence, most)
  from (
    select call.sequence_number from batonpass.tool_calls call
    where call.conversation_id = source.conversation_id and call.session_id = source.id
      and call.sequence_number >= source.start_sequence
    order by call.sequence_number desc limit 1) last_call
  join batonpass.messages m on m.conversation_id = source.conversation_id and m.sequence_number = last_call.sequence_number
  join batonpass.turns t on t.conversation_id = m.conversation_id and t.id = m.turn_id
$$;
comment on function batonpass.last_tool_calls_v1 is 'The tool calls of the last turn of a session that has any.';

create or replace function batonpass.load_opening_v1(key text, parent uuid, command uuid) returns jsonb language plpgsql stable set enable_seqscan = off as $$
begin
  return jsonb_build_object(
    'repeated', batonpass.repeated_command_v1(command),
    'existing', (select to_jsonb(c) from batonpass.conversations c where c.external_key = key),
    'parent', (select to_jsonb(c) from batonpass.conversations c where c.id = parent));
end
$$;
comment on function batonpass.load_opening_v1 is 'What opening a conversation is decided on.';

create or replace function batonpass.load_conversation_v1(
  conversation uuid, parent uuid, session uuid, budgeted boolean, command uuid)
 returns jsonb language plpgsql stable set enable_seqscan = off as $$
begin
  return jsonb_build_object(
    'repeated', batonpass.repeated_command_v1(command),
    'conversation', (select to_jsonb(c) from batonpass.conversations c where c.id = conversation),
    'baton', (select to_jsonb(s) from batonpass.agent_sessions s
              where s.conversation_id = conversation and (s.state = 'active' or s.held_by is not null)),
    'parent_session', case when parent is not null then
      (select to_jsonb(s) from batonpass.agent_sessions s where s.id = parent order by s.conversation_id limit 1) end,
    'is_taken', session is not null and exists (
      select from batonpass.agent_sessions s where s.conversation_id = conversation and s.id = session),
    'use', case when budgeted then batonpass.budget_use_v1(conversation) end,
    'tail', batonpass.conversation_tail_v1(conversation));
end
$$;
comment on function batonpass.load_conversation_v1 is 'What starting a session is decided on.';

create or replace function batonpass.load_session_v1(session uuid, command uuid) returns jsonb language plpgsql stable set enable_seqscan = off as $$
declare
  found_session batonpass.agent_sessions;
begin
  select * into found_session from batonpass.agent_sessions where id = session;
  return jsonb_build_object(
    'repeated', batonpass.repeated_command_v1(command),
    'session', case when found_session.id is not null then to_jsonb(found_session) end,
    'conversation', (select to_jsonb(c) from batonpass.conversations c where c.id = found_session.conversation_id),
    'monitor', (select to_jsonb(m) from batonpass.context_monitors m
                where m.conversation_id = found_session.conversation_id and m.session_id = found_session.id),
    'lease', (select jsonb_build_object('until', l.expires_at, 'now', clock_timestamp(), 'runner', l.runner ->> 'mark')
              from batonpass.session_leases l
              where l.conversation_id = found_session.conversation_id and l.session_id = found_session.id),
    'baton', (select to_jsonb(s) from batonpass.agent_sessions s
              where s.conversation_id = found_session.conversation_id and (s.state = 'active' or s.held_by is not null)),
    'tail', batonpass.conversation_tail_v1(found_session.conversation_id));
end
$$;
comment on function batonpass.load_session_v1 is 'What a command on one session is decided on.';

create or replace function batonpass.load_source_v1(
  session uuid, asked_turn uuid, asked_calls text[], most integer, key text, budgeted boolean, command uuid)
returns jsonb language plpgsql stable set enable_seqscan = off as $$
declare
  source   batonpass.agent_sessions;
  named    jsonb := '[]';
  exchange jsonb;
  latest   jsonb := '[]';
begin
  select * into source from batonpass.agent_sessions where id = session;
  if cardinality(asked_calls) > 0 then
    named := batonpass.named_tool_calls_v1(source.conversation_id, asked_calls);
  end if;
  exchange := batonpass.latest_tool_calls_v1(
    source.conversation_id, source.id, coalesce(source.exchange_start, source.start_sequence), null, most);
  latest := batonpass.last_tool_calls_v1(source, most);
  return jsonb_build_object(
    'repeated', batonpass.repeated_command_v1(command),
    'session', case when source.id is not null then to_jsonb(source) end,
    'monitor', (select to_jsonb(m) from batonpass.context_monitors m
                where m.conversation_id = source.conversation_id and m.session_id = source.id),
    'conversation', (select to_jsonb(c) from batonpass.conversations c where c.id = source.conversation_id),
    'prior_turn_id', (select t.id from batonpass.turns t
                      where t.conversation_id = source.conversation_id and t.id = coalesce(asked_turn, source.last_turn_id)),
    'named_tool_calls', named,
    'exchange_tool_calls', exchange,
    'last_tool_calls', latest,
    'key_taken_by', case when key is not null then (select c.id from batonpass.conversations c where c.external_key = key) end,
    'restarts', case when budgeted then batonpass.restart_use_v1(source) end,
    'now', clock_timestamp());
end
$$;
comment on function batonpass.load_source_v1 is 'What initiating a handoff is decided on.';

create or replace function batonpass.load_handoff_v1(handoff uuid, command uuid) returns jsonb language plpgsql stable set enable_seqscan = off as $$
declare
  wanted batonpass.handoffs;
begin
  select * into wanted from batonpass.handoffs where id = handoff;
  return jsonb_build_object(
    'repeated', batonpass.repeated_command_v1(command),
    'handoff', case when wanted.id is not null then batonpass.handoff_document_v1(wanted) end,
    'conversation', (select to_jsonb(c) from batonpass.conversations c where c.id = wanted.conversation_id),
    'source', (select to_jsonb(s) from batonpass.agent_sessions s
               where s.conversation_id = wanted.conversation_id and s.id = wanted.source_session_id),
    'monitor', (select to_jsonb(m) from batonpass.context_monitors m
                where m.conversation_id = wanted.conversation_id and m.session_id = wanted.source_session_id),
    'tail', batonpass.conversation_tail_v1(wanted.conversation_id),
    'now', clock_timestamp());
end
$$;
comment on function batonpass.load_handoff_v1 is 'What the next step of a handoff is decided on.';

-- The end of what is read may be half of an escaped character: eight more characters are read, and the reader cuts them off.
create or replace function batonpass.person_messages_v1(
  conversation uuid, wanted integer, characters integer, older_characters integer, counted_to integer)
returns jsonb language sql stable set enable_seqscan = off as $$
  select jsonb_build_object(
    'counted', (
      select count(*) from (
        select from batonpass.messages m where m.conversation_id = conversation and m.origin = 'person'
        limit counted_to) counted),
    'messages', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'text', left(read.text, read.most + 8), 'most', read.most,
        'stored_length', case when octet_length(read.text) > read.most then char_length(read.text) end,
        'cut_length', read.cut_length, 'recorded_at', read.recorded_at, 'sequence_number', read.sequence_number
      ) order by read.sequence_number desc), '[]')
      from (
        select newest.*, case
          when coalesce(sum(octet_length(newest.text)) over (
            order by newest.sequence_number desc rows between unbounded preceding and 1 preceding), 0) > characters
          then older_characters else characters end as most
        from (
          select m.sequence_number, m.text, m.cut_length, m.recorded_at from batonpass.messages m
          where m.conversation_id = conversation and m.origin = 'person'
          order by m.sequence_number desc limit wanted) newest) read))
$$;
comment on function batonpass.person_messages_v1 is 'The newest messages of people in a conversation, and how many there are.';

create or replace function batonpass.load_completion_v1(
  handoff uuid, wanted integer, characters integer, older_characters integer, counted_to integer, command uuid)
returns jsonb language plpgsql stable set enable_seqscan = off as $$
begin
  return batonpass.load_handoff_v1(handoff, command) || jsonb_build_object(
    'person_messages', (
      select batonpass.person_messages_v1(h.conversation_id, wanted, characters, older_characters, counted_to)
      from batonpass.handoffs h where h.id = handoff));
end
$$;
comment on function batonpass.load_completion_v1 is 'What the next step of a handoff is decided on, with the words of people for its successor.';

-- One of so many of the oldest by this database's clock, chosen by the command: claimers that get in each other's way spread out. Claims that hold
-- are not looked at. Of claims that ran out, those that did so first are looked at, which are nearly always all of them.
create or replace function batonpass.load_next_handoff_v1(agent text, among integer, command uuid) returns jsonb language plpgsql stable set enable_seqscan = off as $$
declare
  moment     timestamptz := clock_timestamp();
  candidates uuid[];
begin
  candidates := array(
    select p.id from (
      (select h.id, h.kept_at from batonpass.handoffs h
       where h.target_agent = agent and h.status = 'initiated' and h.claim_deadline is null
       order by h.claim_deadline, h.kept_at, h.id limit among)
      union all
      (select h.id, h.kept_at from batonpass.handoffs h
       where h.target_agent = agent and h.status = 'accepted' and h.claim_deadline <= moment
       order by h.claim_deadline, h.kept_at, h.id limit among + 64)) p
    order by p.kept_at, p.id limit among);
  return batonpass.load_handoff_v1(
    candidates[1 + abs(uuid_hash_extended(command, 0) % greatest(cardinality(candidates), 1))], command);
end
$$;
comment on function batonpass.load_next_handoff_v1 is 'One of the oldest handoffs an agent may claim now.';
