-- The feed goes by ids of transactions, which belong to a server. Where the store is found on another one, restored, set
-- back or after a failover, the feed begins a new generation: its ids are higher than all before.
create table batonpass.feed_generations (
  number            integer     not null,
  server            text        not null,
  first_transaction xid8        not null,
  ahead             bigint      not null,
  began_at          timestamptz not null default clock_timestamp(),
  constraint feed_generations_pkey primary key (number),
  constraint feed_generations_number_counts check (number >= 1),
  constraint feed_generations_ahead_never_behind check (ahead >= 0)
);
comment on table batonpass.feed_generations is 'On which servers the feed of changes was written, one after the other.';
comment on index batonpass.feed_generations_pkey is 'Which generation of the feed is the newest?';
comment on column batonpass.feed_generations.server is 'The server, its timeline and the database in it, as feed_server() names them.';
comment on column batonpass.feed_generations.first_transaction is 'Entries from here on are of this generation, those before of earlier ones.';
comment on column batonpass.feed_generations.ahead is 'What is added to the id of a transaction of this server.';

create trigger feed_generations_only_grow before update or delete on batonpass.feed_generations
  for each row execute function batonpass.refuse_change();
create trigger feed_generations_never_emptied before truncate on batonpass.feed_generations
  for each statement execute function batonpass.refuse_change();

-- A restore by rows is on another server or in another database. A restore to a point in time and a standby that takes
-- over begin a new timeline. A standby itself writes nothing, and a provider may keep a server's identity to itself.
create function batonpass.feed_server() returns text language plpgsql stable as $$
begin
  if pg_is_in_recovery() or not has_function_privilege('pg_catalog.pg_control_system()', 'execute') then
    return null;
  end if;
  return (select system_identifier from pg_control_system())
    || '/' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)
    || '/' || (select oid from pg_database where datname = current_database());
end
$$;
comment on function batonpass.feed_server is 'The server, its timeline and this database; NULL where that cannot be told.';

-- A store that was restored from another server before there were generations has ids that this server has yet to reach.
insert into batonpass.feed_generations (number, server, first_transaction, ahead)
select 1, coalesce(batonpass.feed_server(), 'unknown'),
  case when newest.id >= here.id then (newest.id + 1)::text::xid8 else '0'::xid8 end,
  greatest(newest.id + 1 - here.id, 0)
from (select coalesce(max(transaction_id::text::bigint), 0) as id
  from (select transaction_id from batonpass.audit_entries order by transaction_id desc limit 1) last) newest,
  (select pg_current_xact_id()::text::bigint as id) here;
