comment on index batonpass.handoffs_by_status is
  'Which handoffs of any conversation are open, which of those overdue, and which were cancelled or failed?';
drop index batonpass.handoffs_by_arrival;
drop index batonpass.handoffs_pending;
create index handoffs_pending on batonpass.handoffs (target_agent, claim_deadline, initiated_at)
  where status in ('initiated', 'accepted');
comment on index batonpass.handoffs_pending is
  'What waits for this agent, oldest first, and which claims on the rest have run out?';

create or replace function batonpass.keep_origin() returns trigger language plpgsql as $$
begin
  if (old.conversation_id, old.id, old.kind, old.source_session_id, old.source_agent, old.target_agent, old.reason,
      old.prior_turn_id, old.traceparent, old.tracestate, old.initiated_at)
    is distinct from (new.conversation_id, new.id, new.kind, new.source_session_id, new.source_agent, new.target_agent,
      new.reason, new.prior_turn_id, new.traceparent, new.tracestate, new.initiated_at)
  then
    raise exception using errcode = 'BP002', table = tg_table_name, constraint = tg_name,
      message = format('what is on record stays: how handoff %s began is not to change', old.id);
  end if;
  return null;
end
$$;
alter table batonpass.handoffs drop column kept_at;
