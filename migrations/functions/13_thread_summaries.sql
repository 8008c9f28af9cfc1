-- Thread summaries: the mirror of what was accepted. Beside decisions, so it has a function of its own.

-- Definer: adds the summary of a handoff, once. One whose document was erased meanwhile comes erased.
create or replace function batonpass.keep_thread_summary_v1(kept jsonb) returns void language sql
security definer set search_path = pg_catalog, pg_temp as $$
  insert into batonpass.thread_summaries (
    conversation_id, handoff_id, target_conversation_id, agent_name, summary, plain_text, tokens, model_used, refinements,
    is_edited, accepted_at)
  select
    item.conversation_id, item.handoff_id, item.target_conversation_id, item.agent_name,
    case when erased.is_so then '[erased]' else item.summary end,
    case when erased.is_so then '[erased]' else item.plain_text end,
    item.tokens, item.model_used, item.refinements, item.is_edited, item.accepted_at
  from jsonb_populate_record(null::batonpass.thread_summaries, kept) as item
  cross join lateral (
    select exists (
      select from batonpass.handoffs h
      where h.conversation_id = item.conversation_id and h.id = item.handoff_id and h.document = '[erased]') as is_so
  ) as erased
  on conflict (conversation_id, handoff_id) do nothing
$$;
comment on function batonpass.keep_thread_summary_v1 is 'Keeps an accepted summary beside its handoff.';
revoke all on function batonpass.keep_thread_summary_v1 from public;
