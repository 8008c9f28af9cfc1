-- Handoffs: one row per passing of a conversation. The prior turn is not optional, and must exist in the conversation.
create table batonpass.handoffs (
  conversation_id        uuid        not null,
  id                     uuid        not null,
  kind                   text        not null,
  source_session_id      uuid        not null,
  source_agent           batonpass.trimmed not null,
  target_agent           batonpass.trimmed not null,
  reason                 batonpass.non_blank not null,
  document               text,
  prior_turn_id          uuid        not null,
  flags                  text[]      not null,
  checkpoint             batonpass.counts,
  traceparent            text,
  tracestate             text,
  initiated_at           timestamptz not null,
  version                bigint      not null,
  status                 text        not null,
  claimant               batonpass.non_blank,
  accepted_at            timestamptz,
  claim_deadline         timestamptz,
  continuation           batonpass.non_blank,
  prepared_session_id    uuid,
  target_session_id      uuid,
  target_conversation_id uuid,
  end_reason             batonpass.non_blank,
  ended_at               timestamptz,
  metadata               batonpass.note,
  extract                batonpass.non_blank,
  constraint handoffs_pkey primary key (conversation_id, id),
  constraint handoffs_source_exists foreign key (conversation_id, source_session_id)
    references batonpass.agent_sessions (conversation_id, id),
  constraint handoffs_prior_turn_exists foreign key (conversation_id, prior_turn_id)
    references batonpass.turns (conversation_id, id),
  constraint handoffs_kind_known check (kind in ('agent_transfer', 'context_restart', 'thread')),
  constraint handoffs_status_known check (status in ('initiated', 'accepted', 'completed', 'cancelled', 'failed')),
  constraint handoffs_flags_known
    check (flags <@ array['minimal_continuation', 'checkpoint_timed_out', 'checkpoint_missing', 'checkpoint_failed',
      'checkpoint_skipped', 'checkpoint_unstructured', 'recap_from_record', 'decided_by_hook', 'window_overflowed',
      'runtime_lost', 'no_progress']),
  constraint handoffs_transfer_changes_agent check (kind <> 'agent_transfer' or source_agent <> target_agent),
  constraint handoffs_trace_whole check (tracestate is null or traceparent is not null),
  constraint handoffs_claim_whole
    check ((claimant is null) = (accepted_at is null) and (claimant is null) = (claim_deadline is null)
      and claim_deadline > accepted_at),
  constraint handoffs_claim_when_accepted
    check ((status <> 'initiated' or claimant is null) and (status not in ('accepted', 'completed') or claimant is not null)),
  constraint handoffs_prepared_while_accepted
    check ((continuation is null) = (prepared_session_id is null) and (continuation is null or status = 'accepted')),
  constraint handoffs_target_when_completed check ((target_session_id is not null) = (status = 'completed')),
  constraint handoffs_target_conversation_for_threads
    check ((target_conversation_id is not null) = (kind = 'thread' and status = 'completed')
      and target_conversation_id <> conversation_id),
  constraint handoffs_threads_never_open check (kind <> 'thread' or status = 'completed'),
  constraint handoffs_ended_when_over
    check ((ended_at is not null) = (status in ('completed', 'cancelled', 'failed'))),
  constraint handoffs_end_says_why check ((end_reason is not null) = (status in ('cancelled', 'failed'))),
  constraint handoffs_counts_from_one check (version >= 1)
)
-- Room for what changes no index: a checkpoint that is kept, a successor that is prepared.
with (fillfactor = 80);
comment on table batonpass.handoffs is 'The passing of a conversation from a source session to a target.';
comment on index batonpass.handoffs_pkey is
  'Which handoff of this conversation holds, or ended, a session? Which handoffs, a handful, did it have?';

create unique index handoffs_one_open on batonpass.handoffs (conversation_id)
  where status in ('initiated', 'accepted');
comment on index batonpass.handoffs_one_open is 'Which handoff of this conversation is open? One at most.';

create index handoffs_by_id on batonpass.handoffs (id);
comment on index batonpass.handoffs_by_id is 'Which handoff has this id?';

create index handoffs_by_metadata on batonpass.handoffs using gin (metadata jsonb_path_ops) where metadata is not null;
comment on index batonpass.handoffs_by_metadata is 'Which handoffs have a note that contains this?';

create index handoffs_by_prior_turn on batonpass.handoffs (conversation_id, prior_turn_id);
comment on index batonpass.handoffs_by_prior_turn is 'Which handoffs did this turn lead to?';

-- Unclaimed ones have no deadline and stand together in order; claims that hold stand past all that have run out.
create index handoffs_pending on batonpass.handoffs (target_agent, claim_deadline, initiated_at)
  where status in ('initiated', 'accepted');
comment on index batonpass.handoffs_pending is
  'What waits for this agent, oldest first, and which claims on the rest have run out?';

-- Sessions and handoffs name each other, and what one says of the other must be so. The rows of a decision come one
-- after the other, so this is looked at when they are all there, as they are by then.
create function batonpass.check_session() returns trigger language plpgsql as $$
declare
  broken text;
begin
  select case
    when s.held_by is distinct from (
      select h.id from batonpass.handoffs h
      where h.conversation_id = s.conversation_id and h.source_session_id = s.id and h.status in ('initiated', 'accepted'))
    then 'agent_sessions_held_by_open_handoff'
    when s.terminated_by_handoff is not null and not exists (
      select from batonpass.handoffs h
      where h.conversation_id = s.conversation_id and h.id = s.terminated_by_handoff
        and h.source_session_id = s.id and h.status = 'completed' and h.kind <> 'thread')
    then 'agent_sessions_terminated_by_its_handoff'
    -- The first session of a thread was initiated in another conversation.
    when s.initiated_by_handoff is not null and s.epoch > 1 and not exists (
      select from batonpass.handoffs h
      where h.conversation_id = s.conversation_id and h.id = s.initiated_by_handoff and h.target_session_id = s.id)
    then 'agent_sessions_initiated_by_its_handoff'
  end into broken
  from batonpass.agent_sessions s where s.conversation_id = new.conversation_id and s.id = new.id;
  if broken is not null then
    raise exception using errcode = '23514', table = tg_table_name, constraint = broken,
      message = format('session %s and the handoffs of its conversation contradict each other', new.id);
  end if;
  return null;
end
$$;
comment on function batonpass.check_session is 'Whether the handoffs that a session names say the same.';

create constraint trigger agent_sessions_begin_as_handed after insert on batonpass.agent_sessions
  deferrable initially deferred for each row
  when (coalesce(new.held_by, new.terminated_by_handoff, new.initiated_by_handoff) is not null)
  execute function batonpass.check_session();
create constraint trigger agent_sessions_move_as_handed after update on batonpass.agent_sessions
  deferrable initially deferred for each row
  when ((old.held_by, old.terminated_by_handoff) is distinct from (new.held_by, new.terminated_by_handoff))
  execute function batonpass.check_session();

create function batonpass.check_handoff() returns trigger language plpgsql as $$
declare
  broken text;
begin
  select case
    when (h.status in ('initiated', 'accepted')) <> (source.held_by is not distinct from h.id)
    then 'handoffs_open_while_held'
    when source.agent_name <> h.source_agent then 'handoffs_source_agent_is_its_own'
    when h.status <> 'completed' then null
    when target.initiated_by_handoff is distinct from h.id then 'handoffs_target_exists'
    when target.agent_name <> h.target_agent then 'handoffs_target_agent_is_its_own'
    when h.kind <> 'thread' and source.terminated_by_handoff is distinct from h.id
    then 'handoffs_completed_ends_source'
    when h.kind = 'thread' and not exists (
      select from batonpass.conversations c where c.id = h.target_conversation_id and c.parent_id = h.conversation_id)
    then 'handoffs_thread_opens_child'
  end into broken
  from batonpass.handoffs h
  left join batonpass.agent_sessions source
    on source.conversation_id = h.conversation_id and source.id = h.source_session_id
  left join batonpass.agent_sessions target
    on target.conversation_id = coalesce(h.target_conversation_id, h.conversation_id) and target.id = h.target_session_id
  where h.conversation_id = new.conversation_id and h.id = new.id;
  if broken is not null then
    raise exception using errcode = '23514', table = tg_table_name, constraint = broken,
      message = format('handoff %s and the sessions it names contradict each other', new.id);
  end if;
  return null;
end
$$;
comment on function batonpass.check_handoff is 'Whether the sessions that a handoff names say the same.';

create constraint trigger handoffs_begin_as_sessions_say after insert on batonpass.handoffs
  deferrable initially deferred for each row execute function batonpass.check_handoff();
create constraint trigger handoffs_end_as_sessions_say after update on batonpass.handoffs
  deferrable initially deferred for each row when (old.ended_at is distinct from new.ended_at)
  execute function batonpass.check_handoff();

-- What is said after the turn that led to a handoff belongs to that turn, until its agent has left what it leaves.
create function batonpass.check_extension() returns trigger language plpgsql as $$
begin
  if new.end_sequence < old.end_sequence or not exists (
    select from batonpass.agent_sessions s
    join batonpass.handoffs h on h.conversation_id = s.conversation_id and h.id = s.held_by
    where s.conversation_id = new.conversation_id and s.id = new.session_id and s.last_turn_id = new.id
      and s.last_sequence = new.end_sequence and h.checkpoint is null)
  then
    raise exception using errcode = 'BP002', table = tg_table_name, constraint = tg_name,
      message = format('what is on record stays: turn %s is not being left, and is not to be added to', old.id);
  end if;
  return null;
end
$$;
comment on function batonpass.check_extension is 'Whether a turn is the last of a session that is being left.';

create trigger turns_extended_while_left after update on batonpass.turns
  for each row when (old.end_sequence is distinct from new.end_sequence)
  execute function batonpass.check_extension();

create function batonpass.keep_origin() returns trigger language plpgsql as $$
begin
  if (old.conversation_id, old.id, old.kind, old.source_session_id, old.source_agent, old.target_agent, old.reason,
      old.prior_turn_id, old.traceparent, old.tracestate, old.initiated_at)
    is distinct from (new.conversation_id, new.id, new.kind, new.source_session_id, new.source_agent, new.target_agent,
      new.reason, new.prior_turn_id, new.traceparent, new.tracestate, new.initiated_at)
  then
    raise exception using errcode = 'BP002', table = tg_table_name, constraint = tg_name,
      message = format('what is on record stays: how handoff %s began is not to change', old.id);
  end if;
  return null;
end
$$;
comment on function batonpass.keep_origin is 'Refuses to change how a handoff began.';

create trigger handoffs_ended_for_good after update on batonpass.handoffs
  for each row when (old.ended_at is not null)
  execute function batonpass.keep_record('{metadata,extract}', '{reason,document,end_reason}');
create trigger handoffs_extract_once after update on batonpass.handoffs
  for each row when (old.extract is not null and new.extract is distinct from old.extract and new.extract is distinct from '[erased]')
  execute function batonpass.refuse_change();
create trigger handoffs_begun_for_good after update on batonpass.handoffs
  for each row when (old.ended_at is null) execute function batonpass.keep_origin();
create trigger handoffs_never_deleted before delete on batonpass.handoffs
  for each row execute function batonpass.refuse_change();
create trigger handoffs_never_emptied before truncate on batonpass.handoffs
  for each statement execute function batonpass.refuse_change();

-- The tool calls that led to a handoff. A call that does not exist in the conversation cannot be named.
create table batonpass.handoff_tool_calls (
  conversation_id uuid     not null,
  handoff_id      uuid     not null,
  ordinal         smallint not null,
  call_id         batonpass.non_blank not null,
  sequence_number bigint   not null,
  constraint handoff_tool_calls_pkey primary key (conversation_id, handoff_id, ordinal),
  constraint handoff_tool_calls_handoff_exists foreign key (conversation_id, handoff_id)
    references batonpass.handoffs (conversation_id, id),
  constraint handoff_tool_calls_call_exists foreign key (conversation_id, call_id, sequence_number)
    references batonpass.tool_calls (conversation_id, call_id, sequence_number),
  constraint handoff_tool_calls_count_from_one check (ordinal >= 1)
);
comment on table batonpass.handoff_tool_calls is 'Which tool calls led to a handoff, in order.';
comment on index batonpass.handoff_tool_calls_pkey is 'Which tool calls led to this handoff, in order?';

create trigger handoff_tool_calls_stay before update or delete on batonpass.handoff_tool_calls
  for each row execute function batonpass.refuse_change();
create trigger handoff_tool_calls_never_emptied before truncate on batonpass.handoff_tool_calls
  for each statement execute function batonpass.refuse_change();

-- Snapshots: what a window held at a moment. The tool calls it saw are found by its range.
create table batonpass.context_snapshots (
  conversation_id  uuid        not null,
  id               uuid        not null,
  session_id       uuid        not null,
  type             text        not null,
  window_start     bigint,
  window_end       bigint,
  window_user      integer     not null,
  window_assistant integer     not null,
  window_tool      integer     not null,
  window_system    integer     not null,
  window_usage     batonpass.counts not null,
  captured_at      timestamptz not null,
  constraint context_snapshots_pkey primary key (conversation_id, id),
  constraint context_snapshots_session_exists foreign key (conversation_id, session_id)
    references batonpass.agent_sessions (conversation_id, id),
  constraint context_snapshots_type_known
    check (type in ('session_start', 'handoff_initiated', 'checkpoint', 'truncation', 'on_demand')),
  constraint context_snapshots_window_has_both_ends check ((window_start is null) = (window_end is null)),
  constraint context_snapshots_counts_what_it_saw
    check (least(window_user, window_assistant, window_tool, window_system) >= 0
      and (window_start is null) = (window_user + window_assistant + window_tool + window_system = 0)
      and window_user + window_assistant + window_tool + window_system <= window_end - window_start + 1
      and window_start >= 1)
);
comment on table batonpass.context_snapshots is 'What a window held at a moment.';
comment on index batonpass.context_snapshots_pkey is 'Which snapshot of this conversation is this?';

create index context_snapshots_by_session on batonpass.context_snapshots (session_id, captured_at, id);
comment on index batonpass.context_snapshots_by_session is 'What did the window of this session hold, over time?';

create index context_snapshots_by_id on batonpass.context_snapshots (id);
comment on index batonpass.context_snapshots_by_id is 'Which snapshot has this id?';

create trigger context_snapshots_stay before update or delete on batonpass.context_snapshots
  for each row execute function batonpass.refuse_change();
create trigger context_snapshots_never_emptied before truncate on batonpass.context_snapshots
  for each statement execute function batonpass.refuse_change();
