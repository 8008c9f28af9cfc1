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

create function batonpass.truncated_to(session uuid, before bigint) returns bigint
language plpgsql stable set enable_seqscan = off as $$
begin
  return coalesce((
    select max(window_end) from batonpass.context_snapshots
    where session_id = session and type = 'truncation' and window_end < before), 0);
end
$$;
comment on function batonpass.truncated_to is 'The last message that a compaction took out of a window, before a place.';

-- What a unit says about windows beside the monitors it moves: new ones, what is withdrawn, what is newly said.
create function batonpass.keep_signals(unit jsonb) returns void language plpgsql as $$
begin
  if unit ? 'monitors' then
    insert into batonpass.context_monitors
      select * from jsonb_populate_recordset(null::batonpass.context_monitors, unit -> 'monitors');
  end if;
  if unit ? 'withdrawn_signals' then
    update batonpass.context_signals signal set status = 'withdrawn', settled_at = gone.settled_at
    from jsonb_populate_recordset(null::batonpass.context_signals, unit -> 'withdrawn_signals') gone
    where signal.conversation_id = gone.conversation_id and signal.about_session_id = gone.about_session_id
      and signal.status = 'queued' and signal.kind = 'milestone';
  end if;
  if unit ? 'signals' then
    insert into batonpass.context_signals
      select * from jsonb_populate_recordset(null::batonpass.context_signals, unit -> 'signals');
  end if;
end
$$;
comment on function batonpass.keep_signals is 'Keeps new monitors and what sessions are to be told.';

-- A session hears what was for it, and for those before it that have handed off. Definer: what a program says to a
-- queue is that it was heard, and nothing else.
create function batonpass.acknowledge_signals(recipient uuid, signals uuid[], at timestamptz) returns bigint language sql
security definer set search_path = pg_catalog, pg_temp as $$
  with heard as (
    update batonpass.context_signals set status = 'delivered', settled_at = at
    where status = 'queued' and id = any (signals) and recipient_session_id in (
      select heard.id from batonpass.agent_sessions own
      join batonpass.agent_sessions heard on heard.conversation_id = own.conversation_id
        and (heard.id = own.id or (heard.state = 'handed_off' and heard.epoch < own.epoch))
      where own.id = recipient)
    returning 1)
  select count(*) from heard
$$;
comment on function batonpass.acknowledge_signals is 'Says that a session was told these, and counts those it was not told before.';
revoke all on function batonpass.acknowledge_signals from public;
