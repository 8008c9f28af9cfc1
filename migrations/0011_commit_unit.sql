-- Keeps all changes of one decision, or none: one round trip, whatever the decision was.
-- The answer is {"outcome": "kept" | "conflict" | "repeated", ...}. Anything else that is wrong raises, and nothing stays.
-- Events come beside the rows, grouped by stream in id order: their bodies are text and need not be parsed.
create function batonpass.commit_unit(unit jsonb, streams uuid[], bodies text[], salts text[])
returns jsonb language plpgsql
-- The one way in: programs have no right of their own to write. Nothing is looked up by a path that they could choose.
security definer set search_path = pg_catalog, pg_temp
-- A plan made while a table was small would go on reading all of it while it grows; here everything is found by key.
set enable_seqscan = off as $$
declare
  item   jsonb;
  session batonpass.agent_sessions;
  handoff batonpass.handoffs;
  monitor record; -- its table comes with a later migration
  guards integer := 0;
begin
  -- Guards. While nothing is written yet a conflict is an answer; after the first write it has to undo it.
  -- A command that was carried out before has moved its own guards on, or finds its own row taken below.
  if unit ? 'moved_handoffs' then
    for i in 0 .. jsonb_array_length(unit -> 'moved_handoffs') - 1 loop
      item := unit -> 'moved_handoffs' -> i;
      handoff := jsonb_populate_record(null::batonpass.handoffs, item);
      update batonpass.handoffs set
        version = handoff.version, status = handoff.status, claimant = handoff.claimant, accepted_at = handoff.accepted_at,
        claim_deadline = handoff.claim_deadline, continuation = handoff.continuation,
        prepared_session_id = handoff.prepared_session_id, document = coalesce(handoff.document, document),
        flags = coalesce(handoff.flags, flags), checkpoint = coalesce(handoff.checkpoint, checkpoint), target_session_id = handoff.target_session_id,
        target_conversation_id = handoff.target_conversation_id, end_reason = handoff.end_reason, ended_at = handoff.ended_at
      where conversation_id = handoff.conversation_id and id = handoff.id
        and version = (item #>> '{expected,version}')::bigint and status = item #>> '{expected,status}'
        and claimant is not distinct from item #>> '{expected,claimant}'
        and claim_deadline is not distinct from (item #>> '{expected,claim_deadline}')::timestamptz
        and (handoff.status <> 'accepted' or accepted_at = handoff.accepted_at
          or abs(extract(epoch from handoff.accepted_at - clock_timestamp())) <= (item ->> 'tolerance_ms')::numeric / 1000);
      if not found then
        if guards = 0 then return batonpass.overtaken((unit -> 'command' ->> 'id')::uuid); end if;
        raise exception using errcode = 'BP001', message = 'the handoff has moved on';
      end if;
      guards := guards + 1;
    end loop;
  end if;
  if unit ? 'moved_sessions' then
    for i in 0 .. jsonb_array_length(unit -> 'moved_sessions') - 1 loop
      item := unit -> 'moved_sessions' -> i;
      session := jsonb_populate_record(null::batonpass.agent_sessions, item);
      update batonpass.agent_sessions set
        holder = coalesce(session.holder, holder), version = session.version, turns = session.turns, last_turn_id = session.last_turn_id,
        next_sequence = session.next_sequence, last_sequence = session.last_sequence,
        exchange_start = session.exchange_start, window_start = session.window_start, window_end = session.window_end,
        window_user = session.window_user, window_assistant = session.window_assistant, window_tool = session.window_tool,
        window_system = session.window_system, window_usage = session.window_usage, state = session.state,
        totals = session.totals, takeovers = session.takeovers, provider_session_id = session.provider_session_id,
        held_by = session.held_by, terminated_by_handoff = session.terminated_by_handoff,
        end_sequence = session.end_sequence, end_reason = session.end_reason, ended_by = session.ended_by, ended_at = session.ended_at
      where conversation_id = session.conversation_id and id = session.id
        and version = (item #>> '{expected,version}')::bigint
        and holder = coalesce((item #>> '{expected,holder}')::uuid, holder)
        and state = item #>> '{expected,state}'
        and held_by is not distinct from (item #>> '{expected,held_by}')::uuid
        and turns = (item #>> '{expected,turns}')::integer
        and next_sequence = (item #>> '{expected,next_sequence}')::bigint;
      if not found then
        if guards = 0 then return batonpass.overtaken((unit -> 'command' ->> 'id')::uuid); end if;
        raise exception using errcode = 'BP001', message = 'the session has moved on';
      end if;
      guards := guards + 1;
    end loop;
  end if;
  if unit ? 'expected_sessions' then
    for i in 0 .. jsonb_array_length(unit -> 'expected_sessions') - 1 loop
      item := unit -> 'expected_sessions' -> i;
      perform from batonpass.agent_sessions
      where conversation_id = (item ->> 'conversation_id')::uuid and id = (item ->> 'id')::uuid
        and version = (item #>> '{expected,version}')::bigint
        and holder = coalesce((item #>> '{expected,holder}')::uuid, holder)
        and state = item #>> '{expected,state}'
        and held_by is not distinct from (item #>> '{expected,held_by}')::uuid
        and turns = (item #>> '{expected,turns}')::integer
        and next_sequence = (item #>> '{expected,next_sequence}')::bigint
      for share;
      if not found then
        if guards = 0 then return batonpass.overtaken((unit -> 'command' ->> 'id')::uuid); end if;
        raise exception using errcode = 'BP001', message = 'the session has moved on';
      end if;
    end loop;
  end if;

  if unit ? 'moved_monitors' then
    for i in 0 .. jsonb_array_length(unit -> 'moved_monitors') - 1 loop
      item := unit -> 'moved_monitors' -> i;
      monitor := jsonb_populate_record(null::batonpass.context_monitors, item);
      update batonpass.context_monitors set
        version = monitor.version, is_enabled = monitor.is_enabled, policy = monitor.policy,
        milestones = monitor.milestones, window_parts = monitor.window_parts, reading = monitor.reading,
        is_compacting = monitor.is_compacting, awaits_reading = monitor.awaits_reading, cycle = monitor.cycle,
        latched_at = monitor.latched_at, boundary_at = monitor.boundary_at, boundary_key = monitor.boundary_key,
        sampled_at = monitor.sampled_at
      where conversation_id = monitor.conversation_id and session_id = monitor.session_id
        and version = (item ->> 'expected')::bigint;
      if not found then
        if guards = 0 then return batonpass.overtaken((unit -> 'command' ->> 'id')::uuid); end if;
        raise exception using errcode = 'BP001', message = 'the monitor has moved on';
      end if;
      guards := guards + 1;
    end loop;
  end if;

  -- A command without a digest is not remembered: readings come by the thousand, and taken twice they are taken once.
  if unit -> 'command' ? 'digest' then
    insert into batonpass.commands (id, conversation_id, digest, receipt)
      select id, conversation_id, digest, receipt from jsonb_populate_record(null::batonpass.commands, unit -> 'command');
  end if;
  if unit ? 'conversations' then
    insert into batonpass.conversations
      select * from jsonb_populate_recordset(null::batonpass.conversations, unit -> 'conversations');
    insert into batonpass.audit_heads
      select id, 0, sha256(uuid_send(id)) from jsonb_populate_recordset(null::batonpass.conversations, unit -> 'conversations');
  end if;
  if unit ? 'sessions' then
    insert into batonpass.agent_sessions
      select * from jsonb_populate_recordset(null::batonpass.agent_sessions, unit -> 'sessions');
  end if;
  -- Whoever closes the conversation waits for this lock, and whoever it waits for finds it closed.
  if unit ? 'open_conversations' then
    for i in 0 .. jsonb_array_length(unit -> 'open_conversations') - 1 loop
      perform from batonpass.conversations
      where id = (unit #>> array['open_conversations', i::text, 'id'])::uuid and closed_at is null for share;
      if not found then
        raise exception using errcode = 'BP001', message = 'the conversation was closed';
      end if;
    end loop;
  end if;
  if unit ?| array['closed_conversations', 'budgets', 'metadata', 'extracts'] then
    perform batonpass.keep_notes(unit);
  end if;
  -- Checked after the baton was taken: from here on nobody else can speak.
  if unit ? 'expected_tails' then
    for i in 0 .. jsonb_array_length(unit -> 'expected_tails') - 1 loop
      item := unit -> 'expected_tails' -> i;
      perform from batonpass.messages
      where conversation_id = (item ->> 'conversation_id')::uuid and sequence_number >= (item ->> 'next_sequence')::bigint;
      if found then
        raise exception using errcode = 'BP001', message = 'somebody has spoken meanwhile';
      end if;
    end loop;
  end if;
  if unit ? 'extended_turns' then
    for i in 0 .. jsonb_array_length(unit -> 'extended_turns') - 1 loop
      item := unit -> 'extended_turns' -> i;
      update batonpass.turns set end_sequence = (item ->> 'end_sequence')::bigint
      where conversation_id = (item ->> 'conversation_id')::uuid and id = (item ->> 'id')::uuid
        and session_id = (item ->> 'session_id')::uuid;
      if not found then
        raise exception using errcode = '23503', table = 'turns', constraint = 'messages_turn_exists',
          message = 'there is no turn to add to';
      end if;
    end loop;
  end if;
  -- Rows that come together go in one statement: starting one costs as much as a row. References are checked at its end.
  if unit ? 'turns' then
    with turn as (
      insert into batonpass.turns select * from jsonb_populate_recordset(null::batonpass.turns, unit -> 'turns')),
    message as (
      insert into batonpass.messages
        select * from jsonb_populate_recordset(null::batonpass.messages, unit -> 'messages'))
    insert into batonpass.tool_calls
      select * from jsonb_populate_recordset(null::batonpass.tool_calls, unit -> 'tool_calls');
  elsif unit ? 'messages' then
    insert into batonpass.messages select * from jsonb_populate_recordset(null::batonpass.messages, unit -> 'messages');
    if unit ? 'tool_calls' then
      insert into batonpass.tool_calls
        select * from jsonb_populate_recordset(null::batonpass.tool_calls, unit -> 'tool_calls');
    end if;
  end if;
  if unit ? 'handoffs' then
    with handoff as (
      insert into batonpass.handoffs
        select * from jsonb_populate_recordset(null::batonpass.handoffs, unit -> 'handoffs'))
    insert into batonpass.handoff_tool_calls
      select * from jsonb_populate_recordset(null::batonpass.handoff_tool_calls, unit -> 'handoff_tool_calls');
  end if;
  if unit ? 'snapshots' then
    insert into batonpass.context_snapshots
      select * from jsonb_populate_recordset(null::batonpass.context_snapshots, unit -> 'snapshots');
  end if;
  if unit ?| array['monitors', 'signals', 'withdrawn_signals'] then perform batonpass.keep_signals(unit); end if;
  if unit ?| array['leases', 'dropped_leases'] then perform batonpass.keep_leases(unit); end if;
  -- What was deferred until the rows of a unit are all there is checked here, where no plan reads a whole table.
  set constraints all immediate;
  perform batonpass.append_audit((unit -> 'command' ->> 'id')::uuid, streams, bodies, salts);
  return '{"outcome": "kept"}';
end
$$;
-- Why a guard failed: the same command came first, or another one did.
create function batonpass.overtaken(command uuid) returns jsonb language sql stable as $$
  select coalesce(
    (select jsonb_build_object('outcome', 'repeated', 'digest', digest, 'receipt', receipt)
     from batonpass.commands where id = command),
    '{"outcome": "conflict"}')
$$;
comment on function batonpass.overtaken is 'Whether a decision was overtaken by itself or by another.';

-- What may change of a conversation, and the notes of callers.
create function batonpass.keep_notes(unit jsonb) returns void language plpgsql set enable_seqscan = off as $$
declare
  item jsonb;
begin
  for item in select jsonb_array_elements(unit -> 'closed_conversations') loop
    update batonpass.conversations set closed_at = (item ->> 'closed_at')::timestamptz
    where id = (item ->> 'id')::uuid and (closed_at is null) = (item ? 'closed_at');
    if not found then
      raise exception using errcode = 'BP001', message = 'the conversation is not what was expected';
    end if;
    -- Looked for after the row is locked: whoever starts a session now finds the conversation closed.
    perform from batonpass.agent_sessions
    where item ? 'closed_at' and conversation_id = (item ->> 'id')::uuid and (state = 'active' or held_by is not null);
    if found then
      raise exception using errcode = 'BP001', message = 'somebody has the baton';
    end if;
  end loop;
  for item in select jsonb_array_elements(unit -> 'budgets') loop
    update batonpass.conversations set
      restart_budget = coalesce(item -> 'restart_budget', restart_budget), asked = coalesce(item -> 'asked', asked)
    where id = (item ->> 'id')::uuid;
    if not found then
      raise exception using errcode = 'BP001', message = 'there is no such conversation';
    end if;
  end loop;
  for item in select jsonb_array_elements(unit -> 'extracts') loop
    update batonpass.handoffs set extract = item ->> 'extract'
    where conversation_id = (item ->> 'conversation_id')::uuid and id = (item ->> 'id')::uuid and extract is null;
    if not found then
      raise exception using errcode = 'BP001', message = 'it has an extract, or there is no such handoff';
    end if;
  end loop;
  for item in select jsonb_array_elements(unit -> 'metadata') loop
    case item ->> 'of'
      when 'conversation' then
        update batonpass.conversations set metadata = item -> 'metadata' where id = (item ->> 'id')::uuid;
      when 'session' then
        update batonpass.agent_sessions set metadata = item -> 'metadata'
        where conversation_id = (item ->> 'conversation_id')::uuid and id = (item ->> 'id')::uuid;
      when 'handoff' then
        update batonpass.handoffs set metadata = item -> 'metadata'
        where conversation_id = (item ->> 'conversation_id')::uuid and id = (item ->> 'id')::uuid;
    end case;
    if not found then
      raise exception using errcode = 'BP001', message = 'there is nothing to note this on';
    end if;
  end loop;
end
$$;
comment on function batonpass.keep_notes is 'Closes and reopens conversations, and keeps the notes of callers.';

comment on function batonpass.commit_unit is 'Keeps all changes of one decision, if what it was based on still stands.';
revoke all on function batonpass.commit_unit from public;

-- Appends events to their streams. They come grouped by stream in id order, so that two threads never wait for each
-- other. A transaction may take its id early and its turn late: the feed goes by an id that never falls within a stream.
create function batonpass.append_audit(command uuid, streams uuid[], bodies text[], salts text[])
returns void language plpgsql as $$
declare
  head     batonpass.audit_heads;
  previous bytea;
begin
  for i in 1 .. coalesce(cardinality(bodies), 0) loop
    if head.conversation_id is distinct from streams[i] then
      if head.conversation_id is not null then
        update batonpass.audit_heads
        set position = head.position, hash = head.hash, transaction_id = head.transaction_id
        where conversation_id = head.conversation_id;
      end if;
      select * into head from batonpass.audit_heads where conversation_id = streams[i] for update;
      if not found then
        raise exception using errcode = 'BP003', message = format('there is no conversation %s to log to', streams[i]);
      end if;
      head.transaction_id := greatest(pg_current_xact_id(), head.transaction_id);
    end if;
    previous := head.hash;
    head.position := head.position + 1;
    head.hash := batonpass.audit_hash(previous, head.conversation_id, head.position, command, bodies[i]);
    insert into batonpass.audit_entries
      (conversation_id, position, command_id, body, previous_hash, hash, transaction_id)
      values (head.conversation_id, head.position, command, bodies[i], previous, head.hash, head.transaction_id);
    if salts[i] is not null then
      insert into batonpass.audit_salts values (head.conversation_id, head.position, salts[i]);
    end if;
  end loop;
  if head.conversation_id is not null then
    update batonpass.audit_heads
    set position = head.position, hash = head.hash, transaction_id = head.transaction_id
    where conversation_id = head.conversation_id;
  end if;
end
$$;
comment on function batonpass.append_audit is 'Appends events to the audit streams of their conversations.';
