-- Commands that were carried out. Keyed by the command alone: a repetition must be known before its conversation is.
create table batonpass.commands (
  id              uuid        not null,
  conversation_id uuid        not null,
  digest          text        not null,
  receipt         jsonb,
  kept_at         timestamptz not null default clock_timestamp(),
  constraint commands_pkey primary key (id),
  constraint commands_receipt_is_object check (jsonb_typeof(receipt) = 'object')
);
comment on table batonpass.commands is 'Commands that were carried out, so that repeating one gives the first answer.';
comment on index batonpass.commands_pkey is 'Was this command carried out before?';
comment on column batonpass.commands.kept_at is 'When, by this database''s clock: what is old enough may be forgotten.';

create index commands_by_age on batonpass.commands (kept_at);
comment on index batonpass.commands_by_age is 'Which commands are old enough to be forgotten, oldest first?';

-- The one way to forget commands, a few at a time and never a young one, so that a program needs no right to delete them.
-- Several may be at it at once: each takes others.
create function batonpass.prune_commands(keep_ms bigint, most integer) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
declare
  pruned integer;
begin
  delete from batonpass.commands where id = any (array(
    select old.id from batonpass.commands old
    where old.kept_at < (select clock_timestamp() - greatest(keep_ms, 3600000) * interval '1 millisecond')
    order by old.kept_at limit least(most, 1000) for update skip locked));
  get diagnostics pruned = row_count;
  return pruned;
end
$$;
comment on function batonpass.prune_commands is 'Forgets some commands older than so many milliseconds, an hour at least.';
revoke all on function batonpass.prune_commands from public;
comment on column batonpass.commands.digest is 'A salt, and the SHA-256 of it and what was asked: tells a repetition from a reuse.';
comment on column batonpass.commands.receipt is 'What was answered, as far as it may change afterwards; NULL when only the call itself knew the id.';

-- They may be deleted when nobody repeats them any more, and never answer anything else than they did.
create trigger commands_stay before update on batonpass.commands
  for each row execute function batonpass.refuse_change();
