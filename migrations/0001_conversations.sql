-- Conversations: one row per long piece of work. Only whether it is closed and the caller's note ever change.
create table batonpass.conversations (
  id                uuid        not null,
  external_key      text,
  subject           text,
  original_task     text        not null,
  parent_id         uuid,
  working_directory text,
  worktree_path     text,
  branch            text,
  restart_budget    jsonb       not null,
  opened_at         timestamptz not null,
  closed_at         timestamptz,
  metadata          jsonb,
  constraint conversations_pkey primary key (id),
  constraint conversations_external_key_once unique (external_key),
  constraint conversations_parent_exists foreign key (parent_id) references batonpass.conversations (id)
);
comment on table batonpass.conversations is 'One long piece of work: a job, a thread, an issue. Outlives many windows.';
comment on index batonpass.conversations_pkey is 'Which conversation has this id?';
comment on index batonpass.conversations_external_key_once is
  'Which conversation has the key of this job? Opening a key twice finds the same one.';

create index conversations_by_parent on batonpass.conversations (parent_id, opened_at, id) where parent_id is not null;
comment on index batonpass.conversations_by_parent is 'Which threads grew out of this conversation, oldest first?';

create index conversations_by_metadata on batonpass.conversations using gin (metadata jsonb_path_ops)
  where metadata is not null;
comment on index batonpass.conversations_by_metadata is 'Which conversations have a note that contains this?';

create index conversations_by_age on batonpass.conversations (opened_at, id);
comment on index batonpass.conversations_by_age is 'Which conversations are there, page by page?';
