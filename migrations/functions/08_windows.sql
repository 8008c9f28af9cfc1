-- Monitors of windows, and what sessions are to be told.

create or replace function batonpass.add_monitors_v1(added jsonb) returns void language plpgsql strict as $$
begin
  insert into batonpass.context_monitors (
    conversation_id, session_id, version, is_enabled, policy, milestones, window_parts, reading, is_compacting,
    awaits_reading, cycle, latched_at, boundary_at, boundary_key, sampled_at)
  select
    conversation_id, session_id, version, is_enabled, policy, milestones, window_parts, reading, is_compacting,
    awaits_reading, cycle, latched_at, boundary_at, boundary_key, sampled_at
  from jsonb_populate_recordset(null::batonpass.context_monitors, added);
end
$$;
comment on function batonpass.add_monitors_v1 is 'Adds monitors.';

create or replace function batonpass.move_monitors_v1(moved jsonb) returns text language plpgsql strict as $$
declare
  item jsonb;
  next batonpass.context_monitors;
begin
  for i in 0 .. jsonb_array_length(moved) - 1 loop
    item := moved -> i;
    next := jsonb_populate_record(null::batonpass.context_monitors, item);
    update batonpass.context_monitors monitor set
      version = next.version, is_enabled = next.is_enabled, policy = next.policy, milestones = next.milestones,
      window_parts = next.window_parts, reading = next.reading, is_compacting = next.is_compacting,
      awaits_reading = next.awaits_reading, cycle = next.cycle, latched_at = next.latched_at,
      boundary_at = next.boundary_at, boundary_key = next.boundary_key, sampled_at = next.sampled_at
    where monitor.conversation_id = next.conversation_id and monitor.session_id = next.session_id
      and monitor.version = (item ->> 'expected')::bigint;
    if not found then return format('the monitor of session %s has moved on', next.session_id); end if;
  end loop;
  return null;
end
$$;
comment on function batonpass.move_monitors_v1 is 'Moves monitors from the version they were decided on; otherwise says which one is at another.';

create or replace function batonpass.withdraw_signals_v1(withdrawn jsonb) returns void language plpgsql strict as $$
begin
  update batonpass.context_signals signal set status = 'withdrawn', settled_at = gone.settled_at
  from jsonb_populate_recordset(null::batonpass.context_signals, withdrawn) gone
  where signal.conversation_id = gone.conversation_id and signal.about_session_id = gone.about_session_id
    and signal.status = 'queued' and signal.kind = 'milestone';
end
$$;
comment on function batonpass.withdraw_signals_v1 is 'Withdraws what was to be said about a window, as far as nobody was told yet.';

create or replace function batonpass.add_signals_v1(added jsonb) returns void language plpgsql strict as $$
begin
  insert into batonpass.context_signals (
    conversation_id, id, recipient_session_id, about_session_id, kind, milestone, text, delivery, status,
    queued_at, settled_at)
  select
    conversation_id, id, recipient_session_id, about_session_id, kind, milestone, text, delivery, status,
    queued_at, settled_at
  from jsonb_populate_recordset(null::batonpass.context_signals, added);
end
$$;
comment on function batonpass.add_signals_v1 is 'Adds what sessions are to be told.';

-- A session hears what was for it, and for those before it that have handed off. Definer: what a program says to a
-- queue is that it was heard, and nothing else.
create or replace function batonpass.acknowledge_signals_v1(recipient uuid, signals uuid[], at timestamptz) returns bigint language sql
security definer set search_path = pg_catalog, pg_temp as $$
  with heard as (
    update batonpass.context_signals set status = 'delivered', settled_at = at
    where status = 'queued' and id = any (signals) and recipient_session_id in (
      select heard.id from batonpass.agent_sessions own
      join batonpass.agent_sessions heard on heard.conversation_id = own.conversation_id
        and (heard.id = own.id or (heard.state = 'handed_off' and heard.epoch < own.epoch))
      where own.id = recipient)
    returning 1)
  select count(*) from heard
$$;
comment on function batonpass.acknowledge_signals_v1 is 'Says that a session was told these, and counts those it was not told before.';
revoke all on function batonpass.acknowledge_signals_v1 from public;
