-- Leases: until when holders are to be heard of.

-- A lease changes with its session, which is guarded and in the log: nobody takes a lease away and leaves no trace.
create or replace function batonpass.lease_of_unit_v1(unit jsonb, session jsonb) returns void language plpgsql as $$
begin
  if not coalesce(unit -> 'moved_sessions' @> jsonb_build_array(jsonb_build_object('id', session)), false)
    and not coalesce(unit -> 'sessions' @> jsonb_build_array(jsonb_build_object('id', session)), false) then
    raise exception using errcode = 'BP003',
      message = format('a lease changes only with its session, and session %s is not in the unit', session #>> '{}');
  end if;
end
$$;
comment on function batonpass.lease_of_unit_v1 is 'Refuses to change the lease of a session that the same unit does not begin or move.';

-- A lease that is only to be dropped or replaced once it has expired, and has not, undoes the unit.
create or replace function batonpass.drop_leases_v1(dropped jsonb, unit jsonb) returns void language plpgsql strict as $$
declare
  item jsonb;
begin
  for item in select jsonb_array_elements(dropped) loop
    perform batonpass.lease_of_unit_v1(unit, item -> 'session_id');
    delete from batonpass.session_leases lease
    where lease.conversation_id = (item ->> 'conversation_id')::uuid and lease.session_id = (item ->> 'session_id')::uuid
      and (not coalesce((item ->> 'if_expired')::boolean, false) or lease.expires_at <= clock_timestamp());
    if not found and coalesce((item ->> 'if_expired')::boolean, false) then
      perform batonpass.refuse_unit_v1(format('the holder of session %s was heard of meanwhile', item ->> 'session_id'));
    end if;
  end loop;
end
$$;
comment on function batonpass.drop_leases_v1 is 'Ends leases.';

create or replace function batonpass.set_leases_v1(leases jsonb, unit jsonb) returns void language plpgsql strict as $$
declare
  item jsonb;
begin
  for item in select jsonb_array_elements(leases) loop
    perform batonpass.lease_of_unit_v1(unit, item -> 'session_id');
    insert into batonpass.session_leases as lease (conversation_id, session_id, holder, expires_at, runner) values (
      (item ->> 'conversation_id')::uuid, (item ->> 'session_id')::uuid, item ->> 'holder',
      clock_timestamp() + (item ->> 'lease_ms')::integer * interval '1 millisecond',
      item -> 'runner')
    on conflict (conversation_id, session_id) do update
      set holder = excluded.holder, expires_at = excluded.expires_at, runner = excluded.runner
      where not coalesce((item ->> 'if_expired')::boolean, false) or lease.expires_at <= clock_timestamp();
    if not found then
      perform batonpass.refuse_unit_v1(format('the holder of session %s was heard of meanwhile', item ->> 'session_id'));
    end if;
  end loop;
end
$$;
comment on function batonpass.set_leases_v1 is 'Begins leases, or replaces them.';

-- Definer: a holder says that it lives, and changes nothing else.
create or replace function batonpass.renew_lease_v1(session uuid, token text, lease_ms integer) returns boolean language sql
security definer set search_path = pg_catalog, pg_temp as $$
  with renewed as (
    update batonpass.session_leases set expires_at = clock_timestamp() + lease_ms * interval '1 millisecond'
    where session_id = session and holder = batonpass.token_digest(token)
    returning 1)
  select exists (select from renewed)
$$;
comment on function batonpass.renew_lease_v1 is 'Says that a holder lives, if it still is the holder.';
revoke all on function batonpass.renew_lease_v1 from public;

-- Definer: a holder says which processes work its session, and changes nothing else.
create or replace function batonpass.keep_processes_v1(session uuid, token text, launched jsonb) returns boolean language sql
security definer set search_path = pg_catalog, pg_temp as $$
  with kept as (
    update batonpass.session_leases set processes = launched where session_id = session and holder = batonpass.token_digest(token)
    returning 1)
  select exists (select from kept)
$$;
comment on function batonpass.keep_processes_v1 is 'Says which processes work a session, if it is the holder who says so.';
revoke all on function batonpass.keep_processes_v1 from public;
