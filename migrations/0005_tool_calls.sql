-- Tool calls: one row per use of a tool, at its place in its message. Only ever added.
create table batonpass.tool_calls (
  conversation_id uuid     not null,
  sequence_number bigint   not null,
  position        integer  not null,
  call_id         batonpass.non_blank not null,
  tool_name       batonpass.non_blank not null,
  session_id      uuid     not null,
  turn_id         uuid     not null,
  argument        text,
  constraint tool_calls_pkey primary key (conversation_id, sequence_number, position),
  constraint tool_calls_once_per_message unique (conversation_id, call_id, sequence_number),
  constraint tool_calls_message_exists foreign key (conversation_id, sequence_number, session_id, turn_id)
    references batonpass.messages (conversation_id, sequence_number, session_id, turn_id),
  constraint tool_calls_count_from_one check (position >= 1)
);
comment on table batonpass.tool_calls is 'One use of a tool.';
comment on column batonpass.tool_calls.argument is
  'What tells it from other uses of the tool, on one line: a command, a path, a pattern. A text that can be erased.';
comment on index batonpass.tool_calls_pkey is 'Which tool calls did the window hold, in order?';
comment on index batonpass.tool_calls_once_per_message is
  'Where in this conversation was this call made? Call ids come from runtimes and may come again.';

create trigger tool_calls_stay before update on batonpass.tool_calls
  for each row execute function batonpass.keep_record('{}', '{argument}');
create trigger tool_calls_never_deleted before delete on batonpass.tool_calls
  for each row execute function batonpass.refuse_change();
create trigger tool_calls_never_emptied before truncate on batonpass.tool_calls
  for each statement execute function batonpass.refuse_change();
