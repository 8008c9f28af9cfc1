-- Threads that somebody waits for.

create or replace function batonpass.load_reports_v1(
  session uuid, asked_turn uuid, asked_calls text[], most integer, key text, budgeted boolean, reported uuid[], command uuid)
returns jsonb language plpgsql stable set enable_seqscan = off as $$
declare
  conversation uuid;
begin
  select conversation_id into conversation from batonpass.agent_sessions where id = session;
  return batonpass.load_source_v1(session, asked_turn, asked_calls, most, key, budgeted, command) || jsonb_build_object(
    'threads', (
      select coalesce(jsonb_agg(jsonb_build_object('handoff_id', h.id, 'is_reported', exists (
        select from batonpass.messages m where m.conversation_id = conversation and m.reports_handoff_id = h.id))), '[]'::jsonb)
      from batonpass.handoffs h
      where h.conversation_id = conversation and h.id = any (reported) and h.kind = 'thread'));
end
$$;
comment on function batonpass.load_reports_v1 is 'What recording the outcomes of threads is decided on.';

create or replace function batonpass.delegated_threads_v1(conversation uuid, most integer) returns setof jsonb
language plpgsql stable set enable_seqscan = off as $$
begin
  return query
    select jsonb_build_object('handoff', batonpass.handoff_document_v1(h), 'session', to_jsonb(latest))
    from batonpass.handoffs h
    cross join lateral (
      select * from batonpass.agent_sessions s
      where s.conversation_id = h.target_conversation_id order by s.epoch desc limit 1) as latest
    where h.conversation_id = conversation and h.flags @> array['delegated']
      -- One lookup for each of them: as a join it may be planned as a scan of all that was said.
      and (
        select m.sequence_number from batonpass.messages m
        where m.conversation_id = conversation and m.reports_handoff_id = h.id limit 1) is null
    order by h.initiated_at, h.id limit most;
end
$$;
comment on function batonpass.delegated_threads_v1 is
  'The delegated threads of a conversation that no message reports yet, each with the latest session of its child.';

-- Every conversation is taken once, so that parents which were tampered into a ring come to an end.
create or replace function batonpass.thread_tree_v1(conversation uuid) returns jsonb
language plpgsql stable set enable_seqscan = off as $$
declare
  line uuid[];
  tree uuid[];
begin
  with recursive ancestor as (
    select c.id, c.parent_id from batonpass.conversations c where c.id = conversation
    union
    select c.id, c.parent_id from batonpass.conversations c join ancestor a on c.id = a.parent_id)
  select array_agg(id) into line from ancestor;
  if line is null then return null; end if;
  with recursive member as (
    select unnest(line) as id
    union
    select c.id from batonpass.conversations c join member m on c.parent_id = m.id)
  select array_agg(id) into tree from member;
  return jsonb_build_object(
    'depth', cardinality(line) - 1,
    'threads', (
      select count(*) from batonpass.handoffs h where h.conversation_id = any (tree) and h.flags @> array['delegated']),
    'cost_usd', coalesce((
        select sum((s.totals ->> 'costUsd')::double precision) from batonpass.agent_sessions s
        where s.conversation_id = any (tree)), 0)
      + coalesce((
        select sum((h.checkpoint -> 'totals' ->> 'costUsd')::double precision) from batonpass.handoffs h
        where h.conversation_id = any (tree)), 0));
end
$$;
comment on function batonpass.thread_tree_v1 is 'How deep a conversation is in its tree, how many threads that has, and what it cost.';
