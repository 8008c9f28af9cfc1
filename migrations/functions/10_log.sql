-- The audit log, and commands that were carried out.

-- The generation of the feed that this server writes: the newest one, or the one that it has yet to begin, which has no
-- time. Its ids begin after all that are stored, whatever this server counts.
create or replace function batonpass.feed_v1() returns batonpass.feed_generations language plpgsql stable as $$
declare
  here   constant text := batonpass.feed_server();
  unused constant bigint := pg_snapshot_xmax(pg_current_snapshot())::text;
  newest batonpass.feed_generations;
  stored bigint;
begin
  select * into newest from batonpass.feed_generations order by number desc limit 1;
  if newest.server = here then return newest; end if;
  stored := coalesce((select transaction_id from batonpass.audit_entries order by transaction_id desc limit 1)::text, '0');
  -- A server that does not say which one it is has changed for certain only if it has not yet counted so far.
  if here is null and stored < unused + newest.ahead then return newest; end if;
  newest.number := coalesce(newest.number, 0) + 1;
  newest.server := coalesce(here, 'unknown');
  newest.first_transaction := (stored + 1)::text;
  newest.ahead := greatest(stored + 1 - unused, 0);
  newest.began_at := null;
  return newest;
end
$$;
comment on function batonpass.feed_v1 is 'The generation of the feed that this server writes; without a time while nothing is written.';

-- For writers: the same, and stored. The first one on a new server begins the generation, and others wait for it.
create or replace function batonpass.begun_feed_v1() returns batonpass.feed_generations language plpgsql as $$
declare
  feed batonpass.feed_generations;
begin
  feed := batonpass.feed_v1();
  if feed.began_at is not null then return feed; end if;
  lock table batonpass.feed_generations in share row exclusive mode;
  feed := batonpass.feed_v1();
  if feed.began_at is not null then return feed; end if;
  insert into batonpass.feed_generations (number, server, first_transaction, ahead)
  values (feed.number, feed.server, feed.first_transaction, feed.ahead);
  return feed;
end
$$;
comment on function batonpass.begun_feed_v1 is 'The generation of the feed that this server writes, which is begun if need be.';

-- Appends events to their streams. They come grouped by stream in id order, so that two threads never wait for each
-- other. A transaction may take its id early and its turn late: the feed goes by an id that never falls within a stream,
-- nor below the first of the generation.
create or replace function batonpass.append_audit_v1(command uuid, streams uuid[], bodies text[], salts text[])
returns void language plpgsql as $$
declare
  feed     constant batonpass.feed_generations := batonpass.begun_feed_v1();
  placed   constant xid8 := greatest(
    (pg_current_xact_id()::text::bigint + feed.ahead)::text::xid8, feed.first_transaction);
  head     batonpass.audit_heads;
  previous bytea;
begin
  for i in 1 .. coalesce(cardinality(bodies), 0) loop
    if head.conversation_id is distinct from streams[i] then
      if head.conversation_id is not null then
        update batonpass.audit_heads
        set position = head.position, hash = head.hash, transaction_id = head.transaction_id
        where conversation_id = head.conversation_id;
      end if;
      select * into head from batonpass.audit_heads where conversation_id = streams[i] for update;
      if not found then
        raise exception using errcode = 'BP003', message = format('there is no conversation %s to log to', streams[i]);
      end if;
      head.transaction_id := greatest(placed, head.transaction_id);
    end if;
    previous := head.hash;
    head.position := head.position + 1;
    head.hash := batonpass.audit_hash(previous, head.conversation_id, head.position, command, bodies[i]);
    insert into batonpass.audit_entries
      (conversation_id, position, command_id, body, previous_hash, hash, transaction_id)
      values (head.conversation_id, head.position, command, bodies[i], previous, head.hash, head.transaction_id);
    if salts[i] is not null then
      insert into batonpass.audit_salts values (head.conversation_id, head.position, salts[i]);
    end if;
  end loop;
  if head.conversation_id is not null then
    update batonpass.audit_heads
    set position = head.position, hash = head.hash, transaction_id = head.transaction_id
    where conversation_id = head.conversation_id;
  end if;
end
$$;
comment on function batonpass.append_audit_v1 is 'Appends events to the audit streams of their conversations.';

-- The entry that seals a command also says when it was kept, by this database's clock: it is written behind the seal.
create or replace function batonpass.dated_v1(bodies text[], seal text, kept_at timestamptz) returns text[]
language sql stable as $$
  select array_agg(replace(body, seal || '@"', seal || '@'
    || to_char(kept_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') || '"') order by place)
  from unnest(bodies) with ordinality as one (body, place)
$$;
comment on function batonpass.dated_v1 is 'Entries with the time at which their command was kept.';

-- A command without a digest is not remembered: readings come by the thousand, and taken twice they are taken once.
create or replace function batonpass.remember_command_v1(command jsonb) returns void language plpgsql as $$
begin
  if not command ? 'digest' then return; end if;
  insert into batonpass.commands (id, conversation_id, digest, receipt, kept_at)
  select id, conversation_id, digest, receipt, kept_at from jsonb_populate_record(null::batonpass.commands, command);
end
$$;
comment on function batonpass.remember_command_v1 is 'Remembers a command by its id and digest, and with its receipt if it has one.';

-- The one way to forget commands, a few at a time and never a young one, so that a program needs no right to delete them.
-- Several may be at it at once: each takes others.
create or replace function batonpass.prune_commands_v1(keep_ms bigint, most integer) returns integer
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
comment on function batonpass.prune_commands_v1 is 'Forgets some commands older than so many milliseconds, an hour at least.';
revoke all on function batonpass.prune_commands_v1 from public;
