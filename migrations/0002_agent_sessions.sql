-- Sessions: one row per window's life. Progress is running figures, so that a turn costs the same at any length.
create table batonpass.agent_sessions (
  conversation_id       uuid        not null,
  id                    uuid        not null,
  epoch                 integer     not null,
  agent_name            batonpass.trimmed not null,
  backend               batonpass.non_blank not null,
  model                 batonpass.non_blank,
  provider_session_id   batonpass.non_blank,
  parent_session_id     uuid,
  initiated_by_handoff  uuid,
  start_sequence        bigint      not null,
  started_at            timestamptz not null,
  holder                uuid        not null,
  version               bigint      not null,
  turns                 integer     not null,
  last_turn_id          uuid,
  next_sequence         bigint      not null,
  last_sequence         bigint,
  exchange_start        bigint,
  window_start          bigint,
  window_end            bigint,
  window_user           integer     not null,
  window_assistant      integer     not null,
  window_tool           integer     not null,
  window_system         integer     not null,
  window_usage          batonpass.counts not null,
  totals                batonpass.counts,
  takeovers             integer,
  state                 text        not null,
  held_by               uuid,
  terminated_by_handoff uuid,
  end_sequence          bigint,
  end_reason            batonpass.non_blank,
  ended_by              text,
  ended_at              timestamptz,
  metadata              batonpass.note,
  constraint agent_sessions_pkey primary key (conversation_id, id),
  constraint agent_sessions_epoch_once unique (conversation_id, epoch),
  constraint agent_sessions_conversation_exists
    foreign key (conversation_id) references batonpass.conversations (id),
  constraint agent_sessions_state_known
    check (state in ('active', 'paused', 'handed_off', 'completed', 'failed')),
  constraint agent_sessions_held_only_while_paused check (held_by is null or state = 'paused'),
  constraint agent_sessions_end_only_when_ended
    check ((ended_at is not null) = (state in ('handed_off', 'completed', 'failed'))),
  constraint agent_sessions_ends_with_its_last_message
    check (end_sequence is not distinct from case when ended_at is not null then last_sequence end),
  constraint agent_sessions_handed_off_names_handoff
    check ((terminated_by_handoff is not null) = (state = 'handed_off')),
  constraint agent_sessions_failed_says_why check ((end_reason is not null) = (state = 'failed')),
  constraint agent_sessions_ended_by_known
    check (ended_by in ('restarts', 'deadline', 'cost', 'takeovers', 'turns', 'no_progress')),
  constraint agent_sessions_ended_by_when_failed check (ended_by is null or state = 'failed'),
  constraint agent_sessions_takeovers_counted check (takeovers >= 1),
  constraint agent_sessions_window_has_both_ends check ((window_start is null) = (window_end is null)),
  constraint agent_sessions_counts_from_one check (epoch >= 1 and start_sequence >= 1 and version >= 1 and turns >= 0)
);
comment on table batonpass.agent_sessions is 'One window''s life inside a conversation: one agent, one provider session.';
comment on index batonpass.agent_sessions_pkey is 'What does a turn, message or handoff of this conversation belong to?';
comment on index batonpass.agent_sessions_epoch_once is 'What sessions did this conversation have, in order?';

create unique index agent_sessions_one_baton on batonpass.agent_sessions (conversation_id)
  where state = 'active' or held_by is not null;
comment on index batonpass.agent_sessions_one_baton is
  'Who has the baton of this conversation? One session at most: active, or held by an open handoff.';

create index agent_sessions_by_id on batonpass.agent_sessions (id);
comment on index batonpass.agent_sessions_by_id is 'Which session has this id?';

create index agent_sessions_by_provider on batonpass.agent_sessions (provider_session_id, started_at)
  where provider_session_id is not null;
comment on index batonpass.agent_sessions_by_provider is 'Which sessions worked this provider session?';

create index agent_sessions_by_metadata on batonpass.agent_sessions using gin (metadata jsonb_path_ops)
  where metadata is not null;
comment on index batonpass.agent_sessions_by_metadata is 'Which sessions have a note that contains this?';

-- Rules about figures that move with every turn, and about what never moves. A CHECK is made ready anew for each
-- statement; this is made ready once, and costs a tenth of it.
create function batonpass.check_progress() returns trigger language plpgsql as $$
declare
  broken text;
begin
  if tg_op = 'UPDATE' and (old.conversation_id, old.id, old.epoch, old.agent_name, old.backend, old.model,
      old.parent_session_id, old.initiated_by_handoff, old.start_sequence, old.started_at)
    is distinct from (new.conversation_id, new.id, new.epoch, new.agent_name, new.backend, new.model,
      new.parent_session_id, new.initiated_by_handoff, new.start_sequence, new.started_at)
  then
    raise exception using errcode = 'BP002', table = tg_table_name, constraint = 'agent_sessions_begun_for_good',
      message = format('what is on record stays: how session %s began is not to change', old.id);
  end if;
  if least(new.window_user, new.window_assistant, new.window_tool, new.window_system) < 0
    or (new.window_start is null) <> (new.window_user + new.window_assistant + new.window_tool + new.window_system = 0)
    or new.window_user + new.window_assistant + new.window_tool + new.window_system > new.window_end - new.window_start + 1
  then
    broken := 'agent_sessions_counts_its_window';
  elsif new.next_sequence <= greatest(new.start_sequence - 1, new.last_sequence)
    or least(new.last_sequence, new.exchange_start, new.window_start) < new.start_sequence
    or greatest(new.exchange_start, new.window_start, new.window_end) > coalesce(new.last_sequence, 0)
    or new.window_start > new.window_end
  then
    broken := 'agent_sessions_places_in_order';
  elsif (new.last_turn_id is null) <> (new.turns = 0) or new.turns > new.next_sequence - new.start_sequence then
    broken := 'agent_sessions_last_turn_if_any';
  end if;
  if broken is not null then
    raise exception using errcode = '23514', table = tg_table_name, constraint = broken,
      message = format('the figures of session %s contradict each other', new.id);
  end if;
  return null;
end
$$;
comment on function batonpass.check_progress is 'Whether the figures of a session agree, and how it began stays.';

create trigger agent_sessions_progress after insert or update on batonpass.agent_sessions
  for each row execute function batonpass.check_progress();
create trigger agent_sessions_ended_for_good after update on batonpass.agent_sessions
  for each row when (old.ended_at is not null)
  execute function batonpass.keep_record('{metadata}', '{end_reason}');
create trigger agent_sessions_never_deleted before delete on batonpass.agent_sessions
  for each row execute function batonpass.refuse_change();
create trigger agent_sessions_never_emptied before truncate on batonpass.agent_sessions
  for each statement execute function batonpass.refuse_change();
