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
  state                 text        not null,
  held_by               uuid,
  terminated_by_handoff uuid,
  end_sequence          bigint,
  end_reason            batonpass.non_blank,
  ended_at              timestamptz,
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
  constraint agent_sessions_window_has_both_ends check ((window_start is null) = (window_end is null)),
  constraint agent_sessions_counts_its_window
    check (least(window_user, window_assistant, window_tool, window_system) >= 0
      and (window_start is null) = (window_user + window_assistant + window_tool + window_system = 0)
      and window_user + window_assistant + window_tool + window_system <= window_end - window_start + 1),
  constraint agent_sessions_places_in_order
    check (next_sequence > greatest(start_sequence - 1, last_sequence)
      and least(last_sequence, exchange_start, window_start) >= start_sequence
      and greatest(exchange_start, window_start, window_end) <= coalesce(last_sequence, 0)
      and window_start <= window_end),
  constraint agent_sessions_last_turn_if_any
    check ((last_turn_id is null) = (turns = 0) and turns <= next_sequence - start_sequence),
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

create trigger agent_sessions_ended_for_good after update on batonpass.agent_sessions
  for each row when (old.ended_at is not null)
  execute function batonpass.keep_record('{metadata,version}', '{end_reason}');
create trigger agent_sessions_begun_for_good after update on batonpass.agent_sessions
  for each row when ((old.conversation_id, old.id, old.epoch, old.agent_name, old.backend, old.model, old.parent_session_id,
      old.initiated_by_handoff, old.start_sequence, old.started_at)
    is distinct from (new.conversation_id, new.id, new.epoch, new.agent_name, new.backend, new.model,
      new.parent_session_id, new.initiated_by_handoff, new.start_sequence, new.started_at))
  execute function batonpass.refuse_change();
create trigger agent_sessions_never_deleted before delete on batonpass.agent_sessions
  for each row execute function batonpass.refuse_change();
create trigger agent_sessions_never_emptied before truncate on batonpass.agent_sessions
  for each statement execute function batonpass.refuse_change();
