-- Handoffs, and snapshots that are taken with them.

-- Wakes those who listen on the channel that is named as the schema, once the transaction is committed. Nobody waits for a
-- restart. A commit with a wake-up waits for other such commits in the whole database, so nothing else may wake anybody.
create or replace function batonpass.wake_workers_v1(added jsonb) returns void language plpgsql as $$
begin
  perform pg_notify(
    (parse_ident($sql$batonpass.handoffs$sql$))[1],
    -- A payload has fewer than 8000 bytes. An empty one wakes everybody.
    case when octet_length(item ->> 'target_agent') < 4000 then item ->> 'target_agent' else '' end)
  from jsonb_array_elements(added) item
  where item ->> 'kind' <> 'context_restart' and item ->> 'target_agent' <> item ->> 'source_agent';
end
$$;
comment on function batonpass.wake_workers_v1 is 'Wakes the workers of the agents that handoffs are for.';

create or replace function batonpass.add_handoffs_v1(added jsonb, calls jsonb) returns void language plpgsql as $$
begin
  if added is null then return; end if;
  with handoff as (
    insert into batonpass.handoffs (
      conversation_id, id, kind, source_session_id, source_agent, target_agent, reason, document, prior_turn_id,
      flags, checkpoint, traceparent, tracestate, initiated_at, version, status, claimant, accepted_at,
      claim_deadline, continuation, prepared_session_id, target_session_id, target_conversation_id, end_reason,
      ended_at, metadata, extract)
    select
      conversation_id, id, kind, source_session_id, source_agent, target_agent, reason, document, prior_turn_id,
      flags, checkpoint, traceparent, tracestate, initiated_at, version, status, claimant, accepted_at,
      claim_deadline, continuation, prepared_session_id, target_session_id, target_conversation_id, end_reason,
      ended_at, metadata, extract
    from jsonb_populate_recordset(null::batonpass.handoffs, added))
  insert into batonpass.handoff_tool_calls (
    conversation_id, handoff_id, ordinal, call_id, sequence_number)
  select
    conversation_id, handoff_id, ordinal, call_id, sequence_number
  from jsonb_populate_recordset(null::batonpass.handoff_tool_calls, calls);
  perform batonpass.wake_workers_v1(added);
end
$$;
comment on function batonpass.add_handoffs_v1 is 'Adds handoffs with the tool calls that led to them.';

-- A claim begins by the clock of this database; one that goes on has begun before.
create or replace function batonpass.claim_is_timely_v1(before batonpass.handoffs, next batonpass.handoffs, tolerance_ms numeric)
returns boolean language sql stable as $$
  select next.status <> 'accepted' or before.accepted_at = next.accepted_at
    or abs(extract(epoch from next.accepted_at - clock_timestamp())) <= tolerance_ms / 1000
$$;
comment on function batonpass.claim_is_timely_v1 is 'Whether a claim goes on, or begins about now.';

create or replace function batonpass.move_handoffs_v1(moved jsonb) returns text language plpgsql strict as $$
declare
  item jsonb;
  next batonpass.handoffs;
begin
  for i in 0 .. jsonb_array_length(moved) - 1 loop
    item := moved -> i;
    next := jsonb_populate_record(null::batonpass.handoffs, item);
    update batonpass.handoffs handoff set
      version = next.version, status = next.status, claimant = next.claimant, accepted_at = next.accepted_at,
      claim_deadline = next.claim_deadline, continuation = next.continuation,
      prepared_session_id = next.prepared_session_id, document = coalesce(next.document, handoff.document),
      flags = coalesce(next.flags, handoff.flags), checkpoint = coalesce(next.checkpoint, handoff.checkpoint),
      target_session_id = next.target_session_id, target_conversation_id = next.target_conversation_id,
      end_reason = next.end_reason, ended_at = next.ended_at
    where handoff.conversation_id = next.conversation_id and handoff.id = next.id
      and batonpass.handoff_stands_v1(handoff, item -> 'expected')
      and batonpass.claim_is_timely_v1(handoff, next, (item ->> 'tolerance_ms')::numeric);
    if not found then return format('handoff %s has moved on, or its claim does not begin now', next.id); end if;
  end loop;
  return null;
end
$$;
comment on function batonpass.move_handoffs_v1 is 'Moves handoffs that are what the decision took them for; otherwise says which one is not.';

create or replace function batonpass.keep_extracts_v1(extracts jsonb) returns void language plpgsql strict as $$
declare
  item jsonb;
begin
  for item in select jsonb_array_elements(extracts) loop
    update batonpass.handoffs set extract = item ->> 'extract'
    where conversation_id = (item ->> 'conversation_id')::uuid and id = (item ->> 'id')::uuid and extract is null;
    if not found then
      perform batonpass.refuse_unit_v1(format('handoff %s has an extract, or is not there', item ->> 'id'));
    end if;
  end loop;
end
$$;
comment on function batonpass.keep_extracts_v1 is 'Keeps what was made of the record for a successor, once.';

create or replace function batonpass.add_snapshots_v1(added jsonb) returns void language plpgsql strict as $$
begin
  insert into batonpass.context_snapshots (
    conversation_id, id, session_id, type, window_start, window_end, window_user, window_assistant, window_tool,
    window_system, window_usage, captured_at)
  select
    conversation_id, id, session_id, type, window_start, window_end, window_user, window_assistant, window_tool,
    window_system, window_usage, captured_at
  from jsonb_populate_recordset(null::batonpass.context_snapshots, added);
end
$$;
comment on function batonpass.add_snapshots_v1 is 'Adds snapshots.';
