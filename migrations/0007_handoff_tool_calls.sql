-- The tool calls that led to a handoff. A call that does not exist in the conversation cannot be named.
create table batonpass.handoff_tool_calls (
  conversation_id uuid     not null,
  handoff_id      uuid     not null,
  ordinal         smallint not null,
  call_id         batonpass.non_blank not null,
  sequence_number bigint   not null,
  constraint handoff_tool_calls_pkey primary key (conversation_id, handoff_id, ordinal),
  constraint handoff_tool_calls_handoff_exists foreign key (conversation_id, handoff_id)
    references batonpass.handoffs (conversation_id, id),
  constraint handoff_tool_calls_call_exists foreign key (conversation_id, call_id, sequence_number)
    references batonpass.tool_calls (conversation_id, call_id, sequence_number),
  constraint handoff_tool_calls_count_from_one check (ordinal >= 1)
);
comment on table batonpass.handoff_tool_calls is 'Which tool calls led to a handoff, in order.';
comment on index batonpass.handoff_tool_calls_pkey is 'Which tool calls led to this handoff, in order?';

create trigger handoff_tool_calls_stay before update or delete on batonpass.handoff_tool_calls
  for each row execute function batonpass.refuse_change();
create trigger handoff_tool_calls_never_emptied before truncate on batonpass.handoff_tool_calls
  for each statement execute function batonpass.refuse_change();

-- A handoff as one document, its tool calls in order: what every reader of handoffs asks for.
create function batonpass.handoff_document(handoff batonpass.handoffs) returns jsonb
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
comment on function batonpass.handoff_document is 'A handoff with the tool calls that led to it.';

-- The tool calls of a session within a range, in order: what a window held.
create function batonpass.tool_calls_within(conversation uuid, session uuid, first bigint, last bigint) returns jsonb
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
comment on function batonpass.tool_calls_within is 'The tool calls of a session within a range of messages.';
