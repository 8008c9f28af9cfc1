-- Questions about the past.

-- A handoff as one document, its tool calls in order: what every reader of handoffs asks for.
create or replace function batonpass.handoff_document_v1(handoff batonpass.handoffs) returns jsonb
language sql stable as $$
  select to_jsonb(handoff) || jsonb_build_object('tool_calls', coalesce((
    select jsonb_agg(
      jsonb_build_object(
        'callId', call.call_id, 'toolName', call.tool_name, 'messageId', message.id,
        'sequenceNumber', call.sequence_number)
      order by named.ordinal)
    from batonpass.handoff_tool_calls named
    join batonpass.tool_calls call using (conversation_id, call_id, sequence_number)
    join batonpass.messages message using (conversation_id, sequence_number)
    where named.conversation_id = handoff.conversation_id and named.handoff_id = handoff.id), '[]'::jsonb))
$$;
comment on function batonpass.handoff_document_v1 is 'A handoff with the tool calls that led to it.';

-- The tool calls of a session within a range, in order: what a window held.
create or replace function batonpass.tool_calls_within_v1(conversation uuid, session uuid, first bigint, last bigint) returns jsonb
language sql stable as $$
  select coalesce(jsonb_agg(
    jsonb_strip_nulls(jsonb_build_object(
      'callId', call.call_id, 'toolName', call.tool_name, 'messageId', message.id,
      'sequenceNumber', call.sequence_number, 'argument', call.argument))
    order by call.sequence_number, call.position), '[]'::jsonb)
  from batonpass.tool_calls call
  join batonpass.messages message using (conversation_id, sequence_number)
  where call.conversation_id = conversation and call.session_id = session
    and call.sequence_number between first and last
$$;
comment on function batonpass.tool_calls_within_v1 is 'The tool calls of a session within a range of messages.';

-- A search asks for words, each given as its spellings with a space between. Rare words are looked up, frequent ones are
-- soon met along the ages; which it is shows when more than so many are found. The statement is written out with the
-- words, because a plan for any words would suit neither, and goes through the index of words whatever is believed.
create or replace function batonpass.handoffs_saying_v1(wanted text[], most integer) returns setof batonpass.handoffs
language plpgsql stable set enable_seqscan = off set enable_indexscan = off as $$
begin
  return query execute (
    select $sql$ select * from batonpass.handoffs h where $sql$
      || string_agg($sql$ batonpass.search_words(h.reason) && $sql$
        || quote_literal(string_to_array(spellings, ' ')::text) || '::text[]', ' and ')
      || ' limit ' || most
    from unnest(wanted) as spellings);
end
$$;
comment on function batonpass.handoffs_saying_v1 is 'Handoffs with all these words in their reason, so many at most.';

-- The same of one text, for rows that are met along another index. Most texts that lack a word lack even its letters.
create or replace function batonpass.says_all_v1(content text, wanted text[]) returns boolean
language plpgsql immutable strict parallel safe cost 800 as $$
declare
  lowered  text := lower(content collate "C");
  found    text[];
  spelling text;
begin
  foreach spelling in array wanted loop
    if not exists (select from unnest(string_to_array(spelling, ' ')) as word where strpos(lowered, word) > 0) then
      return false;
    end if;
  end loop;
  found := batonpass.search_words(content);
  foreach spelling in array wanted loop
    if not found && string_to_array(spelling, ' ') then return false; end if;
  end loop;
  return true;
end
$$;
comment on function batonpass.says_all_v1 is 'Whether a text has all these words.';

create or replace function batonpass.truncated_to_v1(session uuid, before bigint) returns bigint
language plpgsql stable set enable_seqscan = off as $$
begin
  return coalesce((
    select max(window_end) from batonpass.context_snapshots
    where session_id = session and type = 'truncation' and window_end < before), 0);
end
$$;
comment on function batonpass.truncated_to_v1 is 'The last message that a compaction took out of a window, before a place.';
