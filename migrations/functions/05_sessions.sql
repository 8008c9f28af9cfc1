-- Agent sessions.

create or replace function batonpass.add_sessions_v1(added jsonb) returns void language plpgsql strict as $$
begin
  insert into batonpass.agent_sessions (
    conversation_id, id, epoch, agent_name, backend, model, provider_session_id, parent_session_id,
    initiated_by_handoff, start_sequence, started_at, holder, version, turns, last_turn_id, next_sequence,
    last_sequence, exchange_start, window_start, window_end, window_user, window_assistant, window_tool,
    window_system, window_usage, totals, takeovers, state, held_by, terminated_by_handoff, end_sequence,
    end_reason, ended_by, ended_at, metadata)
  select
    conversation_id, id, epoch, agent_name, backend, model, provider_session_id, parent_session_id,
    initiated_by_handoff, start_sequence, started_at, holder, version, turns, last_turn_id, next_sequence,
    last_sequence, exchange_start, window_start, window_end, window_user, window_assistant, window_tool,
    window_system, window_usage, totals, takeovers, state, held_by, terminated_by_handoff, end_sequence,
    end_reason, ended_by, ended_at, metadata
  from jsonb_populate_recordset(null::batonpass.agent_sessions, added);
end
$$;
comment on function batonpass.add_sessions_v1 is 'Adds sessions.';

create or replace function batonpass.move_sessions_v1(moved jsonb) returns text language plpgsql strict as $$
declare
  item jsonb;
  next batonpass.agent_sessions;
begin
  for i in 0 .. jsonb_array_length(moved) - 1 loop
    item := moved -> i;
    next := jsonb_populate_record(null::batonpass.agent_sessions, item);
    update batonpass.agent_sessions session set
      holder = coalesce(next.holder, session.holder), version = next.version, turns = next.turns,
      last_turn_id = next.last_turn_id, next_sequence = next.next_sequence, last_sequence = next.last_sequence,
      exchange_start = next.exchange_start, window_start = next.window_start, window_end = next.window_end,
      window_user = next.window_user, window_assistant = next.window_assistant, window_tool = next.window_tool,
      window_system = next.window_system, window_usage = next.window_usage, state = next.state,
      totals = next.totals, takeovers = next.takeovers, provider_session_id = next.provider_session_id,
      held_by = next.held_by, terminated_by_handoff = next.terminated_by_handoff,
      end_sequence = next.end_sequence, end_reason = next.end_reason, ended_by = next.ended_by,
      ended_at = next.ended_at
    where session.conversation_id = next.conversation_id and session.id = next.id
      and batonpass.session_stands_v1(session, item -> 'expected')
      -- Nobody speaks in a session without its token: not even a program that was told to.
      and (session.last_sequence is not distinct from next.last_sequence or item -> 'expected' ->> 'token' is not null);
    if not found then return format('session %s has moved on', next.id); end if;
  end loop;
  return null;
end
$$;
comment on function batonpass.move_sessions_v1 is 'Moves sessions that are what the decision took them for; otherwise says which one is not.';

create or replace function batonpass.expect_sessions_v1(expected jsonb) returns text language plpgsql strict as $$
declare
  item jsonb;
begin
  for i in 0 .. jsonb_array_length(expected) - 1 loop
    item := expected -> i;
    perform from batonpass.agent_sessions session
    where session.conversation_id = (item ->> 'conversation_id')::uuid and session.id = (item ->> 'id')::uuid
      and batonpass.session_stands_v1(session, item -> 'expected')
    for share;
    if not found then return format('session %s has moved on', item ->> 'id'); end if;
  end loop;
  return null;
end
$$;
comment on function batonpass.expect_sessions_v1 is 'Holds sessions as they are until the unit is kept; otherwise says which one has moved on.';
