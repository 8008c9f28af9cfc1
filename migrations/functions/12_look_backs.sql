-- Looking back: what was recorded, found by call, by turn, or by a search that ends at its bounds.

-- Words come as lists of their spellings, already without case. A list of lists, because arrays of arrays must be even.
create or replace function batonpass.says_v1(contents text[], needles jsonb, is_all boolean) returns boolean
language plpgsql immutable parallel safe as $$
declare
  spellings jsonb;
  is_there  boolean;
begin
  for spellings in select jsonb_array_elements(needles) loop
    is_there := exists (
      select from unnest(contents) as content, jsonb_array_elements_text(spellings) as spelling
      where strpos(content, spelling) > 0);
    if is_there <> is_all then return is_there; end if;
  end loop;
  return is_all;
end
$$;
comment on function batonpass.says_v1 is 'Whether all of these words, or any of them, occur in these texts.';

create or replace function batonpass.look_back_place_v1(said batonpass.messages) returns jsonb language sql stable as $$
  select jsonb_strip_nulls(jsonb_build_object(
    'sessionId', said.session_id, 'sequenceNumber', said.sequence_number, 'recordedAt', said.recorded_at,
    'epoch', (
      select s.epoch from batonpass.agent_sessions s
      where s.conversation_id = said.conversation_id and s.id = said.session_id),
    'turn', (
      select t.number from batonpass.turns t where t.conversation_id = said.conversation_id and t.id = said.turn_id)))
$$;
comment on function batonpass.look_back_place_v1 is 'Where a message was said: in which window, and in which turn of it.';

-- A text that holds an escape of ours is given whole: only the program can count its characters, or cut it.
create or replace function batonpass.look_back_hit_v1(
  said batonpass.messages, calls jsonb, first_place integer, most integer) returns jsonb language sql stable as $$
  select batonpass.look_back_place_v1(said) || jsonb_build_object(
    'role', said.role, 'origin', said.origin, 'cutFrom', said.cut_length, 'calls', calls, 'before', first_place,
    'answers', case when said.role = 'tool' then said.provider_message_id end,
    'length', char_length(said.text),
    'isEscaped', strpos(said.text, U&'\F8FF') > 0,
    'text', case when strpos(said.text, U&'\F8FF') > 0 then said.text else substr(said.text, first_place + 1, most) end)
$$;
comment on function batonpass.look_back_hit_v1 is 'A message that answers a question, with a part of its text.';

create or replace function batonpass.look_back_calls_v1(said batonpass.messages) returns jsonb language sql stable as $$
  select coalesce(jsonb_agg(
    jsonb_strip_nulls(jsonb_build_object('callId', c.call_id, 'toolName', c.tool_name, 'argument', c.argument))
    order by c.position), '[]')
  from batonpass.tool_calls c
  where said.role = 'assistant' and c.conversation_id = said.conversation_id and c.sequence_number = said.sequence_number
$$;
comment on function batonpass.look_back_calls_v1 is 'The tools that a message calls, in order.';

-- The latest use of a tool under this name, and the first result after it: by key, and by key from there on.
create or replace function batonpass.look_back_call_v1(conversation uuid, wanted jsonb) returns jsonb
language plpgsql stable set enable_seqscan = off as $$
declare
  from_place bigint := coalesce((wanted ->> 'fromSequence')::bigint, 0);
  most       integer := (wanted ->> 'characters')::integer;
  call       batonpass.tool_calls;
  said       batonpass.messages;
  result     batonpass.messages;
  found_here jsonb := '[]';
begin
  select * into call from batonpass.tool_calls c
  where c.conversation_id = conversation and c.call_id = wanted ->> 'callId' order by c.sequence_number desc limit 1;
  if call.call_id is null then return jsonb_build_object('found', found_here); end if;
  select * into result from batonpass.messages m
  where m.conversation_id = conversation and m.sequence_number > call.sequence_number
    and m.sequence_number <= call.sequence_number + (wanted ->> 'resultWithin')::bigint
    and m.role = 'tool' and m.provider_message_id = call.call_id
  order by m.sequence_number limit 1;
  for said in
    select * from batonpass.messages m where m.conversation_id = conversation and m.sequence_number = call.sequence_number
    union all select result.* where result.id is not null
  loop
    continue when said.sequence_number < from_place;
    found_here := found_here || batonpass.look_back_hit_v1(
      said,
      case when said.role = 'tool' then '[]'::jsonb else jsonb_build_array(jsonb_strip_nulls(jsonb_build_object(
        'callId', call.call_id, 'toolName', call.tool_name, 'argument', call.argument))) end,
      case when said.sequence_number = from_place then (wanted ->> 'fromOffset')::integer else 0 end, most);
  end loop;
  return jsonb_build_object('found', found_here, 'isResultMissing', result.id is null);
end
$$;
comment on function batonpass.look_back_call_v1 is 'A tool call and its result.';

create or replace function batonpass.look_back_turn_v1(conversation uuid, wanted jsonb) returns jsonb
language plpgsql stable set enable_seqscan = off as $$
declare
  from_place bigint := coalesce((wanted ->> 'fromSequence')::bigint, 0);
  most       integer := (wanted ->> 'messages')::integer;
  first      bigint;
  last       bigint;
  session    uuid;
  turn       uuid;
begin
  select s.id, s.start_sequence, s.start_sequence + 2 into session, first, last from batonpass.agent_sessions s
  where s.conversation_id = conversation and s.epoch = (wanted ->> 'epoch')::integer;
  if (wanted ->> 'turn')::integer > 0 then
    select t.id, t.start_sequence, t.end_sequence into turn, first, last from batonpass.turns t
    where t.conversation_id = conversation and t.session_id = session and t.number = (wanted ->> 'turn')::integer;
  end if;
  return (
    select jsonb_build_object(
      'found', coalesce(jsonb_agg(
        batonpass.look_back_hit_v1(
          said, batonpass.look_back_calls_v1(said),
          case when said.sequence_number = from_place then (wanted ->> 'fromOffset')::integer else 0 end,
          (wanted ->> 'characters')::integer) order by said.sequence_number)
        filter (where said.ordinal <= most), '[]'),
      'isMore', count(*) > most)
    from (
      select m as said, m.sequence_number, row_number() over (order by m.sequence_number) as ordinal
      from batonpass.messages m
      where m.conversation_id = conversation and m.session_id = session and m.turn_id is not distinct from turn
        and m.sequence_number between greatest(first, from_place) and last
      order by m.sequence_number limit most + 1) as said (said, sequence_number, ordinal));
end
$$;
comment on function batonpass.look_back_turn_v1 is 'What a turn said, or what a window opened with.';

-- From the newest message to older ones, so many of them and so many bytes at most.
create or replace function batonpass.look_back_search_v1(conversation uuid, wanted jsonb) returns jsonb
language plpgsql stable set enable_seqscan = off as $$
declare
  needles    constant jsonb := wanted -> 'needles';
  is_file    constant boolean := wanted ->> 'by' = 'file';
  most_bytes constant bigint := (wanted ->> 'searchedBytes')::bigint;
  below      bigint := least((wanted ->> 'fromSequence')::bigint, (wanted ->> 'windowStart')::bigint);
  said       batonpass.messages;
  looked     batonpass.messages;
  calls      jsonb;
  names      text[];
  lowered    text;
  place      integer;
  bytes      bigint := 0;
  count_here integer := 0;
  found_here jsonb := '[]';
begin
  for said in
    select * from batonpass.messages m
    where m.conversation_id = conversation and m.sequence_number < coalesce(below, 9223372036854775807)
    order by m.sequence_number desc limit (wanted ->> 'searched')::integer
  loop
    exit when bytes >= most_bytes or count_here = (wanted ->> 'messages')::integer;
    looked := said;
    bytes := bytes + octet_length(said.text);
    calls := case when said.role = 'assistant' then batonpass.look_back_calls_v1(said) else '[]' end;
    names := array(
      select lower(concat(c ->> 'toolName', E'\n', c ->> 'argument') collate "C") from jsonb_array_elements(calls) as c);
    lowered := case when is_file and said.role <> 'tool' then '' else lower(said.text collate "C") end;
    continue when not batonpass.says_v1(lowered || names, needles, true);
    place := (
      select min(strpos(lower(said.text collate "C"), spelling))
      from jsonb_array_elements(needles) as spellings, jsonb_array_elements_text(spellings) as spelling
      where strpos(lower(said.text collate "C"), spelling) > 0);
    count_here := count_here + 1;
    found_here := found_here || batonpass.look_back_hit_v1(
      said,
      (select coalesce(jsonb_agg(c order by n), '[]') from jsonb_array_elements(calls) with ordinality as listed (c, n)
       where batonpass.says_v1(
         array[lower(concat(c ->> 'toolName', E'\n', c ->> 'argument') collate "C")], needles, false)),
      greatest(coalesce(place, 1) - 1 - (wanted ->> 'beforeTheMatch')::integer, 0), (wanted ->> 'excerpt')::integer);
  end loop;
  return jsonb_build_object('found', found_here, 'searchedBackTo', case
    when exists (
      select from batonpass.messages m
      where m.conversation_id = conversation and m.sequence_number < looked.sequence_number)
    then batonpass.look_back_place_v1(looked) end);
end
$$;
comment on function batonpass.look_back_search_v1 is 'The newest messages with these words in them, before a place.';

create or replace function batonpass.look_back_v1(wanted jsonb) returns jsonb
language plpgsql stable set enable_seqscan = off as $$
declare
  conversation uuid := (wanted ->> 'conversationId')::uuid;
  asking       batonpass.agent_sessions;
begin
  if wanted ? 'sessionId' then
    select * into asking from batonpass.agent_sessions s where s.id = (wanted ->> 'sessionId')::uuid order by 1 limit 1;
    conversation := asking.conversation_id;
  else
    select c.id into conversation from batonpass.conversations c where c.id = conversation;
  end if;
  if conversation is null then return null; end if;
  case wanted ->> 'by'
    when 'call' then return batonpass.look_back_call_v1(conversation, wanted);
    when 'turn' then return batonpass.look_back_turn_v1(conversation, wanted);
    else return batonpass.look_back_search_v1(
      conversation, wanted || jsonb_build_object('windowStart', asking.window_start));
  end case;
end
$$;
comment on function batonpass.look_back_v1 is 'The answer to a question about what was said and done.';

-- In SQL: to PL/pgSQL the name of a column, found, is that of a variable as well.
create or replace function batonpass.add_look_backs_v1(added jsonb) returns void language sql strict as $$
  insert into batonpass.look_backs (conversation_id, id, session_id, asked_by, text, found, asked_at)
  select conversation_id, id, session_id, asked_by, text, found, asked_at
  from jsonb_populate_recordset(null::batonpass.look_backs, added);
$$;
comment on function batonpass.add_look_backs_v1 is 'Adds what sessions asked when they looked back.';
