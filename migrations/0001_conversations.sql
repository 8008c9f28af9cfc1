-- Rules that several tables share stand here once. As domains they are checked where a value comes in, and not again
-- whenever another column of its row changes.
create domain batonpass.non_blank as text
  constraint non_blank check (value ~ '[^\t-\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]');
comment on domain batonpass.non_blank is 'Text with something in it, going by what programs trim.';

create domain batonpass.trimmed as text
  constraint trimmed check (value <> '' and value !~ '^[\t-\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]|[\t-\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]$');
comment on domain batonpass.trimmed is 'Text with nothing to trim, so that two names are the same or are not.';

create domain batonpass.counts as jsonb
  constraint counts_not_negative check (jsonb_typeof(value) = 'object' and not value @? '$.** ? (@ < 0)');
comment on domain batonpass.counts is 'An object with no number below zero in it.';

create domain batonpass.note as jsonb constraint note_is_an_object check (jsonb_typeof(value) = 'object');
comment on domain batonpass.note is 'The caller''s own, which nothing here reads.';

create function batonpass.refuse_change() returns trigger language plpgsql as $$
begin
  raise exception using errcode = 'BP002', table = tg_table_name, constraint = tg_name,
    message = format('what is on record stays: %s on %I is refused', tg_op, tg_table_name);
end
$$;
comment on function batonpass.refuse_change is 'Refuses any change to what only grows.';

-- Lets through what may still change of a row, and an erasure: a text gives way to [erased], and nothing else does.
create function batonpass.keep_record() returns trigger language plpgsql as $$
declare
  may_change constant text[] := tg_argv[0];
  texts      constant text[] := tg_argv[1];
  before     constant jsonb := to_jsonb(old);
  refused    text;
begin
  select string_agg(key, ', ') into refused from jsonb_each(to_jsonb(new))
  where value is distinct from before -> key and not key = any (may_change)
    and not (key = any (texts) and value = '"[erased]"' and before -> key <> 'null');
  if refused is not null then
    raise exception using errcode = 'BP002', table = tg_table_name, constraint = tg_name,
      message = format('what is on record stays: changing %s of %I is refused', refused, tg_table_name);
  end if;
  return new;
end
$$;
comment on function batonpass.keep_record is 'Refuses to change what is settled, but for the erasure of a text.';

-- Conversations: one row per long piece of work. Only its budget, the latest new prompt, whether it
-- is closed and the caller's note ever change.
create table batonpass.conversations (
  id                uuid        not null,
  external_key      batonpass.non_blank,
  subject           batonpass.non_blank,
  original_task     batonpass.non_blank not null,
  parent_id         uuid,
  working_directory text,
  worktree_path     text,
  branch            text,
  base_branch       text,
  restart_budget    batonpass.counts not null,
  asked             batonpass.counts,
  opened_at         timestamptz not null,
  closed_at         timestamptz,
  metadata          batonpass.note,
  constraint conversations_pkey primary key (id),
  constraint conversations_external_key_once unique (external_key),
  constraint conversations_parent_exists foreign key (parent_id) references batonpass.conversations (id),
  constraint conversations_parent_is_another check (parent_id <> id),
  constraint conversations_asked_in_full check (asked ?& '{mark,prompt,sequence,restarts,takeovers}')
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

create trigger conversations_stay before update on batonpass.conversations
  for each row execute function batonpass.keep_record('{restart_budget,asked,closed_at,metadata}', '{original_task}');
create trigger conversations_never_deleted before delete on batonpass.conversations
  for each row execute function batonpass.refuse_change();
