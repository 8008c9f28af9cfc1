-- Keeps all changes of one decision, or says why not.
-- The answer is {"outcome": "kept" | "conflict" | "repeated", ...}. Anything else that is wrong raises, and nothing stays.
-- Events come beside the rows, grouped by stream in id order: their bodies are text and need not be parsed.
create or replace function batonpass.keep_unit_v1(unit jsonb, streams uuid[], bodies text[], salts text[], is_alone boolean)
returns jsonb language plpgsql as $$
declare
  command constant uuid := unit -> 'command' ->> 'id';
  kept_at constant timestamptz := clock_timestamp();
  moved   text;
begin
  -- A command that was carried out before has moved its own guards on, or finds its own row taken below.
  moved := coalesce(
    batonpass.move_handoffs_v1(unit -> 'moved_handoffs'),
    batonpass.move_sessions_v1(unit -> 'moved_sessions'),
    batonpass.expect_sessions_v1(unit -> 'expected_sessions'),
    batonpass.move_monitors_v1(unit -> 'moved_monitors'));
  if moved is not null then return batonpass.conflict_v1(command, moved); end if;

  if unit ?| array['turns', 'extended_turns', 'messages'] then perform batonpass.expect_speakers_v1(unit); end if;
  perform batonpass.remember_command_v1((unit -> 'command') || jsonb_build_object('kept_at', kept_at));
  -- A unit has few of these lists. Asking first is cheap; calling a function for a list that is not there is not.
  if unit ? 'conversations' then perform batonpass.add_conversations_v1(unit -> 'conversations'); end if;
  if unit ? 'sessions' then perform batonpass.add_sessions_v1(unit -> 'sessions'); end if;
  if unit ? 'open_conversations' then perform batonpass.expect_open_v1(unit -> 'open_conversations'); end if;
  if unit ? 'closed_conversations' then perform batonpass.close_conversations_v1(unit -> 'closed_conversations'); end if;
  if unit ? 'budgets' then perform batonpass.set_budgets_v1(unit -> 'budgets'); end if;
  if unit ? 'extracts' then perform batonpass.keep_extracts_v1(unit -> 'extracts'); end if;
  if unit ? 'metadata' then perform batonpass.set_metadata_v1(unit -> 'metadata'); end if;
  if unit ? 'expected_tails' then perform batonpass.expect_tails_v1(unit -> 'expected_tails'); end if;
  if unit ? 'extended_turns' then perform batonpass.extend_turns_v1(unit -> 'extended_turns'); end if;
  if unit ?| array['turns', 'messages'] then
    perform batonpass.add_turns_v1(unit -> 'turns', unit -> 'messages', unit -> 'tool_calls');
  end if;
  if unit ? 'handoffs' then
    perform batonpass.add_handoffs_v1(unit -> 'handoffs', unit -> 'handoff_tool_calls');
  end if;
  if unit ? 'snapshots' then perform batonpass.add_snapshots_v1(unit -> 'snapshots'); end if;
  if unit ? 'look_backs' then perform batonpass.add_look_backs_v1(unit -> 'look_backs'); end if;
  if unit ? 'monitors' then perform batonpass.add_monitors_v1(unit -> 'monitors'); end if;
  if unit ? 'withdrawn_signals' then perform batonpass.withdraw_signals_v1(unit -> 'withdrawn_signals'); end if;
  if unit ? 'signals' then perform batonpass.add_signals_v1(unit -> 'signals'); end if;
  if unit ? 'dropped_leases' then perform batonpass.drop_leases_v1(unit -> 'dropped_leases', unit); end if;
  if unit ? 'leases' then perform batonpass.set_leases_v1(unit -> 'leases', unit); end if;
  -- What was deferred until the rows of a unit are all there is checked here, where no plan reads a whole table.
  -- In a transaction of the caller each is named, which takes longer: constraints of the caller are none of our business.
  if is_alone then
    set constraints all immediate;
  else
    set constraints
      batonpass.agent_sessions_last_turn_exists, batonpass.agent_sessions_begin_as_handed,
      batonpass.agent_sessions_move_as_handed, batonpass.handoffs_begin_as_sessions_say,
      batonpass.handoffs_end_as_sessions_say immediate;
  end if;
  if unit -> 'command' ? 'seal' then bodies := batonpass.dated_v1(bodies, unit -> 'command' ->> 'seal', kept_at); end if;
  perform batonpass.append_audit_v1(command, streams, bodies, salts);
  return '{"outcome": "kept"}';
end
$$;
comment on function batonpass.keep_unit_v1 is 'Keeps all changes of one decision, in a transaction of its own or of the caller.';

-- Keeps all changes of one decision, or none: one round trip, whatever the decision was.
create or replace function batonpass.commit_unit_v1(unit jsonb, streams uuid[], bodies text[], salts text[])
returns jsonb language plpgsql
-- The one way in: programs have no right of their own to write. Nothing is looked up by a path that they could choose.
security definer set search_path = pg_catalog, pg_temp
-- A plan made while a table was small would go on reading all of it while it grows; here everything is found by key.
set enable_seqscan = off as $$
begin
  return batonpass.keep_unit_v1(unit, streams, bodies, salts, true);
end
$$;
comment on function batonpass.commit_unit_v1 is 'Keeps all changes of one decision, if what it was based on still stands.';
revoke all on function batonpass.commit_unit_v1 from public;

-- Keeps a decision inside a transaction of the caller, which may hold rows of the caller and is ended by the caller.
-- A conflict undoes the unit alone and is an answer, so that the transaction can still be used. Anything else that is
-- wrong raises, and the transaction can only be rolled back.
create or replace function batonpass.commit_within_v1(unit jsonb, streams uuid[], bodies text[], salts text[])
returns jsonb language plpgsql
security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
declare
  place text;
begin
  -- An earlier unit of the same transaction has switched them.
  set constraints
    batonpass.agent_sessions_last_turn_exists, batonpass.agent_sessions_begin_as_handed,
    batonpass.agent_sessions_move_as_handed, batonpass.handoffs_begin_as_sessions_say,
    batonpass.handoffs_end_as_sessions_say deferred;
  begin
    return batonpass.keep_unit_v1(unit, streams, bodies, salts, false);
  exception
    when unique_violation then
      get stacked diagnostics place = constraint_name;
    when sqlstate 'BP001' or serialization_failure or deadlock_detected or lock_not_available then
      place := sqlerrm;
  end;
  return batonpass.overtaken_v1((unit -> 'command' ->> 'id')::uuid, place);
end
$$;
comment on function batonpass.commit_within_v1 is 'Keeps all changes of one decision in a transaction of the caller; a conflict is an answer.';
revoke all on function batonpass.commit_within_v1 from public;
