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
