-- What waits is served, and overdue, by the clock of this database: those of its clients differ.
alter table batonpass.handoffs add column kept_at timestamptz;
alter table batonpass.handoffs alter column kept_at set default clock_timestamp();
comment on column batonpass.handoffs.kept_at is
  'When it was initiated, by this database''s clock; NULL for those that had ended before this was stored.';

-- Nothing says when those that are open came in but their client's clock, which may be ahead.
alter table batonpass.handoffs disable trigger user;
update batonpass.handoffs set kept_at = least(initiated_at, clock_timestamp()) where status in ('initiated', 'accepted');
alter table batonpass.handoffs enable trigger user;

create or replace function batonpass.keep_origin() returns trigger language plpgsql as $$
begin
  if (old.conversation_id, old.id, old.kind, old.source_session_id, old.source_agent, old.target_agent, old.reason,
      old.prior_turn_id, old.traceparent, old.tracestate, old.initiated_at, old.kept_at)
    is distinct from (new.conversation_id, new.id, new.kind, new.source_session_id, new.source_agent, new.target_agent,
      new.reason, new.prior_turn_id, new.traceparent, new.tracestate, new.initiated_at, new.kept_at)
  then
    raise exception using errcode = 'BP002', table = tg_table_name, constraint = tg_name,
      message = format('what is on record stays: how handoff %s began is not to change', old.id);
  end if;
  return null;
end
$$;

drop index batonpass.handoffs_pending;
create index handoffs_pending on batonpass.handoffs (target_agent, claim_deadline, kept_at)
  where status in ('initiated', 'accepted');
comment on index batonpass.handoffs_pending is
  'What waits for this agent, oldest first, and which claims on the rest have run out?';

create index handoffs_by_arrival on batonpass.handoffs (status, kept_at) where status in ('initiated', 'accepted');
comment on index batonpass.handoffs_by_arrival is 'Which open handoffs are overdue, oldest first?';
comment on index batonpass.handoffs_by_status is
  'Which handoffs of any conversation are open, and which were cancelled or failed?';
