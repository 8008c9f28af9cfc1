-- What is watched of each session's window. A row and version of its own: samples from outside do not conflict with turns.
-- Each reading rewrites the row and touches no index, so pages keep room for that.
create table batonpass.context_monitors (
  conversation_id uuid             not null,
  session_id      uuid             not null,
  version         bigint           not null,
  is_enabled      boolean          not null,
  policy          text             not null,
  milestones      jsonb            not null,
  window_parts    jsonb            not null,
  reading         batonpass.counts not null,
  is_compacting   boolean          not null,
  awaits_reading  boolean          not null,
  cycle           integer          not null,
  latched_at      double precision not null,
  boundary_at     timestamptz,
  boundary_key    text,
  sampled_at      timestamptz,
  constraint context_monitors_pkey primary key (conversation_id, session_id),
  constraint context_monitors_session_exists foreign key (conversation_id, session_id)
    references batonpass.agent_sessions (conversation_id, id),
  constraint context_monitors_policy_known check (policy in ('manual', 'advise', 'auto')),
  constraint context_monitors_counts_from_one check (version >= 1 and cycle >= 1),
  constraint context_monitors_latch_is_fraction check (latched_at between 0 and 1)
) with (fillfactor = 70);
comment on table batonpass.context_monitors is 'How full each session''s window is, and which milestones it has reached.';
comment on index batonpass.context_monitors_pkey is 'What is watched of the window of this session of this conversation?';

create index context_monitors_by_session on batonpass.context_monitors (session_id);
comment on index batonpass.context_monitors_by_session is 'What is watched of this session''s window?';

-- Sessions that were started before windows were watched.
insert into batonpass.context_monitors
  select conversation_id, id, 1, true, 'advise',
    '[{"name": "warning", "at": 0.5}, {"name": "critical", "at": 0.65}, {"name": "restart", "at": 0.85}]',
    '{}', '{"state": "unknown"}', false, false, 1, 0, null, null, null
  from batonpass.agent_sessions;

-- What sessions are to be told. The recipient may be of another conversation than the session it is about.
create table batonpass.context_signals (
  conversation_id      uuid        not null,
  id                   uuid        not null,
  recipient_session_id uuid        not null,
  about_session_id     uuid        not null,
  kind                 text        not null,
  milestone            text,
  text                 batonpass.non_blank not null,
  delivery             text        not null,
  status               text        not null,
  queued_at            timestamptz not null,
  settled_at           timestamptz,
  constraint context_signals_pkey primary key (conversation_id, id),
  constraint context_signals_session_exists foreign key (conversation_id, about_session_id)
    references batonpass.agent_sessions (conversation_id, id),
  constraint context_signals_kind_known check (kind in ('milestone', 'compaction', 'message')),
  constraint context_signals_delivery_known check (delivery in ('sequential', 'urgent')),
  constraint context_signals_status_known check (status in ('queued', 'delivered', 'withdrawn')),
  constraint context_signals_settled_when_over check ((settled_at is not null) = (status <> 'queued')),
  constraint context_signals_milestone_named check ((milestone is not null) = (kind = 'milestone'))
);
comment on table batonpass.context_signals is 'What sessions are to be told, kept until they acknowledge it.';
comment on index batonpass.context_signals_pkey is 'Which signal of this conversation is this?';

create index context_signals_for_recipient on batonpass.context_signals (recipient_session_id, queued_at, id);
comment on index batonpass.context_signals_for_recipient is 'What was this session told, oldest first?';

create index context_signals_waiting on batonpass.context_signals (recipient_session_id, delivery, queued_at, id)
  where status = 'queued';
comment on index batonpass.context_signals_waiting is 'What is this session still to be told, oldest first?';

create index context_signals_about on batonpass.context_signals (conversation_id, about_session_id)
  where status = 'queued';
comment on index batonpass.context_signals_about is 'What is still to be said about this session''s window?';

create index context_snapshots_truncations on batonpass.context_snapshots (session_id, window_end)
  where type = 'truncation';
comment on index batonpass.context_snapshots_truncations is 'Up to where was this session''s window compacted?';

-- Leases: until when the holder of a session is to be heard of, by this database's clock. A row of its own, so that a
-- holder who says that it lives does not conflict with the turns it records. Only sessions with the baton have one.
create table batonpass.session_leases (
  conversation_id uuid        not null,
  session_id      uuid        not null,
  holder          uuid        not null,
  expires_at      timestamptz not null,
  processes       jsonb       not null default '[]',
  runner          jsonb,
  constraint session_leases_pkey primary key (conversation_id, session_id),
  constraint session_leases_session_exists foreign key (conversation_id, session_id)
    references batonpass.agent_sessions (conversation_id, id),
  constraint session_leases_processes_are_a_list check (jsonb_typeof(processes) = 'array'),
  constraint session_leases_runner_is_marked check (runner is null or coalesce(jsonb_typeof(runner -> 'mark') = 'string', false))
);
comment on table batonpass.session_leases is 'Until when the holder of a session is to be heard of.';
comment on column batonpass.session_leases.processes is
  'The processes that were last launched for the session, so that whoever takes it over can end them.';
comment on column batonpass.session_leases.runner is
  'The process that holds the session: once it is known to be gone, nobody waits for the lease.';
comment on index batonpass.session_leases_pkey is 'Until when is the holder of this session of this conversation to be heard of?';

create index session_leases_by_session on batonpass.session_leases (session_id);
comment on index batonpass.session_leases_by_session is 'Until when is this session''s holder to be heard of?';

create index session_leases_by_expiry on batonpass.session_leases (expires_at, session_id);
comment on index batonpass.session_leases_by_expiry is 'Whose holders were not heard of in time, longest first?';
