-- Turns, messages and tool calls.

-- Checked after the baton was taken: from here on nobody else can speak.
create or replace function batonpass.expect_tails_v1(expected jsonb) returns void language plpgsql strict as $$
declare
  item jsonb;
begin
  for item in select jsonb_array_elements(expected) loop
    perform from batonpass.messages
    where conversation_id = (item ->> 'conversation_id')::uuid and sequence_number >= (item ->> 'next_sequence')::bigint;
    if found then
      perform batonpass.refuse_unit_v1(format('somebody has spoken in conversation %s', item ->> 'conversation_id'));
    end if;
  end loop;
end
$$;
comment on function batonpass.expect_tails_v1 is 'Refuses a unit when a conversation has messages that its decision did not see.';

create or replace function batonpass.extend_turns_v1(extended jsonb) returns void language plpgsql strict as $$
declare
  item jsonb;
begin
  for item in select jsonb_array_elements(extended) loop
    update batonpass.turns set end_sequence = (item ->> 'end_sequence')::bigint
    where conversation_id = (item ->> 'conversation_id')::uuid and id = (item ->> 'id')::uuid
      and session_id = (item ->> 'session_id')::uuid;
    if not found then
      raise exception using errcode = '23503', table = 'turns', constraint = 'messages_turn_exists',
        message = 'there is no turn to add to';
    end if;
  end loop;
end
$$;
comment on function batonpass.extend_turns_v1 is 'Adds to the range of turns.';

-- Nobody speaks in a session without its token. The guard of a session asks for it when the session moves on; here every
-- row must be of such a session, or of one that the same unit begins: otherwise a unit could show the token of one
-- session and speak in another.
create or replace function batonpass.expect_speakers_v1(unit jsonb) returns void language plpgsql as $$
begin
  perform from jsonb_to_recordset(
    coalesce(unit -> 'turns', '[]') || coalesce(unit -> 'extended_turns', '[]')
      || coalesce(unit -> 'messages', '[]') || coalesce(unit -> 'tool_calls', '[]')) said (conversation_id text, session_id text)
  where not exists (
    select from jsonb_to_recordset(coalesce(unit -> 'moved_sessions', '[]') || coalesce(unit -> 'sessions', '[]'))
      session (conversation_id text, id text, expected jsonb)
    where session.conversation_id = said.conversation_id and session.id = said.session_id
      and (session.expected is null or session.expected ->> 'token' is not null));
  if found then
    raise exception using errcode = 'BP003', message = 'a turn is only recorded with the session that it moves, and its token';
  end if;
end
$$;
comment on function batonpass.expect_speakers_v1 is 'Refuses a unit that speaks in a session whose token it does not show.';

-- Rows that come together go in one statement: starting one costs as much as a row. References are checked at its end.
create or replace function batonpass.add_turns_v1(added jsonb, said jsonb, calls jsonb) returns void language plpgsql as $$
begin
  if added is null and calls is null then
    insert into batonpass.messages (
      conversation_id, sequence_number, id, session_id, turn_id, role, origin, text, recorded_at, cut_length,
      cut_sha256, provider_message_id, reports_handoff_id)
    select
      conversation_id, sequence_number, id, session_id, turn_id, role, origin, text, recorded_at, cut_length,
      cut_sha256, provider_message_id, reports_handoff_id
    from jsonb_populate_recordset(null::batonpass.messages, said);
    return;
  end if;
  with turn as (
    insert into batonpass.turns (
      conversation_id, id, session_id, number, start_sequence, end_sequence, usage, recorded_at)
    select
      conversation_id, id, session_id, number, start_sequence, end_sequence, usage, recorded_at
    from jsonb_populate_recordset(null::batonpass.turns, added)),
  message as (
    insert into batonpass.messages (
      conversation_id, sequence_number, id, session_id, turn_id, role, origin, text, recorded_at, cut_length,
      cut_sha256, provider_message_id, reports_handoff_id)
    select
      conversation_id, sequence_number, id, session_id, turn_id, role, origin, text, recorded_at, cut_length,
      cut_sha256, provider_message_id, reports_handoff_id
    from jsonb_populate_recordset(null::batonpass.messages, said))
  insert into batonpass.tool_calls (
    conversation_id, sequence_number, position, call_id, tool_name, session_id, turn_id, argument)
  select
    conversation_id, sequence_number, position, call_id, tool_name, session_id, turn_id, argument
  from jsonb_populate_recordset(null::batonpass.tool_calls, calls);
end
$$;
comment on function batonpass.add_turns_v1 is 'Adds turns, messages and tool calls.';
