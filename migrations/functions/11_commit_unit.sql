-- Keeps all changes of one decision, or none: one round trip, whatever the decision was.
-- The answer is {"outcome": "kept" | "conflict" | "repeated", ...}. Anything else that is wrong raises, and nothing stays.
-- Events come beside the rows, grouped by stream in id order: their bodies are text and need not be parsed.
create or replace function batonpass.commit_unit_v1(unit jsonb, streams uuid[], bodies text[], salts text[])
returns jsonb language plpgsql
-- The one way in: programs have no right of their own to write. Nothing is looked up by a path that they could choose.
security definer set search_path = pg_catalog, pg_temp
-- A plan made while a table was small would go on reading all of it while it grows; here everything is found by key.
set enable_seqscan = off as $$
declare
  command constant uuid := unit -> 'command' ->> 'id';
  moved   text;
begin
  -- A command that was carried out before has moved its own guards on, or finds its own row taken below.
  moved := coalesce(
    batonpass.move_handoffs_v1(unit -> 'moved_handoffs'),
    batonpass.move_sessions_v1(unit -> 'moved_sessions'),
    batonpass.expect_sessions_v1(unit -> 'expected_sessions'),
    batonpass.move_monitors_v1(unit -> 'moved_monitors'));
  if moved is not null then return batonpass.conflict_v1(command, moved); end if;

  perform batonpass.remember_command_v1(unit -> 'command');
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
  if unit ? 'dropped_leases' then perform batonpass.drop_leases_v1(unit -> 'dropped_leases'); end if;
  if unit ? 'leases' then perform batonpass.set_leases_v1(unit -> 'leases'); end if;
  -- What was deferred until the rows of a unit are all there is checked here, where no plan reads a whole table.
  set constraints all immediate;
  perform batonpass.append_audit_v1(command, streams, bodies, salts);
  return '{"outcome": "kept"}';
end
$$;
comment on function batonpass.commit_unit_v1 is 'Keeps all changes of one decision, if what it was based on still stands.';
revoke all on function batonpass.commit_unit_v1 from public;
