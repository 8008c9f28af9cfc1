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

-- What a unit says about leases. What is only to replace or drop an expired one, and does not, undoes the unit.
create function batonpass.keep_leases(unit jsonb) returns void language plpgsql as $$
declare
  item jsonb;
begin
  if unit ? 'dropped_leases' then
    for i in 0 .. jsonb_array_length(unit -> 'dropped_leases') - 1 loop
      item := unit -> 'dropped_leases' -> i;
      delete from batonpass.session_leases lease
      where lease.conversation_id = (item ->> 'conversation_id')::uuid and lease.session_id = (item ->> 'session_id')::uuid
        and (not coalesce((item ->> 'if_expired')::boolean, false) or lease.expires_at <= clock_timestamp());
      if not found and coalesce((item ->> 'if_expired')::boolean, false) then
        raise exception using errcode = 'BP001', message = 'the holder was heard of meanwhile';
      end if;
    end loop;
  end if;
  if unit ? 'leases' then
    for i in 0 .. jsonb_array_length(unit -> 'leases') - 1 loop
      item := unit -> 'leases' -> i;
      insert into batonpass.session_leases as lease (conversation_id, session_id, holder, expires_at, runner) values (
        (item ->> 'conversation_id')::uuid, (item ->> 'session_id')::uuid, (item ->> 'holder')::uuid,
        clock_timestamp() + (item ->> 'lease_ms')::integer * interval '1 millisecond',
        item -> 'runner')
      on conflict (conversation_id, session_id) do update
        set holder = excluded.holder, expires_at = excluded.expires_at, runner = excluded.runner
        where not coalesce((item ->> 'if_expired')::boolean, false) or lease.expires_at <= clock_timestamp();
      if not found then
        raise exception using errcode = 'BP001', message = 'the holder was heard of meanwhile';
      end if;
    end loop;
  end if;
end
$$;
comment on function batonpass.keep_leases is 'Keeps until when holders are to be heard of.';

-- Definer: a holder says that it lives, and changes nothing else.
create function batonpass.renew_lease(session uuid, token uuid, lease_ms integer) returns boolean language sql
security definer set search_path = pg_catalog, pg_temp as $$
  with renewed as (
    update batonpass.session_leases set expires_at = clock_timestamp() + lease_ms * interval '1 millisecond'
    where session_id = session and holder = token
    returning 1)
  select exists (select from renewed)
$$;
comment on function batonpass.renew_lease is 'Says that a holder lives, if it still is the holder.';
revoke all on function batonpass.renew_lease from public;

-- Definer: a holder says which processes work its session, and changes nothing else.
create function batonpass.keep_processes(session uuid, token uuid, launched jsonb) returns boolean language sql
security definer set search_path = pg_catalog, pg_temp as $$
  with kept as (
    update batonpass.session_leases set processes = launched where session_id = session and holder = token
    returning 1)
  select exists (select from kept)
$$;
comment on function batonpass.keep_processes is 'Says which processes work a session, if it is the holder who says so.';
revoke all on function batonpass.keep_processes from public;

-- What a conversation has used of its budget, going by its record.
create function batonpass.budget_use(conversation uuid) returns jsonb language sql stable as $$
  select jsonb_build_object(
    'restarts', (
      select count(*) from batonpass.handoffs h
      where h.conversation_id = conversation and h.kind = 'context_restart'),
    'takeovers', coalesce((
      select sum(s.takeovers) from batonpass.agent_sessions s where s.conversation_id = conversation), 0),
    'first_started_at', (
      select s.started_at from batonpass.agent_sessions s
      where s.conversation_id = conversation order by s.epoch limit 1),
    'cost_usd', coalesce((
        select sum((s.totals ->> 'costUsd')::double precision) from batonpass.agent_sessions s
        where s.conversation_id = conversation), 0)
      + coalesce((
        select sum((h.checkpoint -> 'totals' ->> 'costUsd')::double precision) from batonpass.handoffs h
        where h.conversation_id = conversation), 0))
$$;
comment on function batonpass.budget_use is 'What a conversation has used of its budget.';

-- The same, and the handoff that a session to be restarted came from.
create function batonpass.restart_use(source batonpass.agent_sessions) returns jsonb language sql stable as $$
  select batonpass.budget_use(source.conversation_id) || jsonb_build_object(
    'came_from', (
      select jsonb_build_object('kind', h.kind, 'flags', h.flags) from batonpass.handoffs h
      where h.conversation_id = source.conversation_id and h.id = source.initiated_by_handoff))
  where source.id is not null
$$;
comment on function batonpass.restart_use is 'What a conversation has used of its budget when a session is to be restarted.';
