-- Sessions: one row per window's life. Progress is running figures, so that a turn costs the same at any length.
create table batonpass.agent_sessions (
  conversation_id       uuid        not null,
  id                    uuid        not null,
  epoch                 integer     not null,
  agent_name            text        not null,
  backend               text        not null,
  model                 text,
  provider_session_id   text,
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
  window_usage          jsonb       not null,
  totals                jsonb,
  state                 text        not null,
  held_by               uuid,
  terminated_by_handoff uuid,
  end_sequence          bigint,
  end_reason            text,
  ended_at              timestamptz,
  metadata              jsonb,
  constraint agent_sessions_pkey primary key (conversation_id, id),
  constraint agent_sessions_epoch_once unique (conversation_id, epoch),
  constraint agent_sessions_conversation_exists
    foreign key (conversation_id) references batonpass.conversations (id),
  constraint agent_sessions_state_known
    check (state in ('active', 'paused', 'handed_off', 'completed', 'failed')),
  constraint agent_sessions_held_only_while_paused check (held_by is null or state = 'paused'),
  constraint agent_sessions_end_only_when_ended
    check ((ended_at is not null) = (state in ('handed_off', 'completed', 'failed'))),
  constraint agent_sessions_end_sequence_only_when_ended check (end_sequence is null or ended_at is not null),
  constraint agent_sessions_handed_off_names_handoff
    check ((terminated_by_handoff is not null) = (state = 'handed_off')),
  constraint agent_sessions_failed_says_why check ((end_reason is not null) = (state = 'failed')),
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
