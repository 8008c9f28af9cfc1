-- Rules that several tables share stand here once. As domains they are checked where a value comes in, and not again
-- whenever another column of its row changes.
create domain batonpass.non_blank as text
  constraint non_blank check (value ~ '[^\t-\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]');
comment on domain batonpass.non_blank is 'Text with something in it, going by what programs trim.';

create domain batonpass.trimmed as text
  constraint trimmed check (value <> '' and value !~ '^[\t-\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]|[\t-\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]$');
comment on domain batonpass.trimmed is 'Text with nothing to trim, so that two names are the same or are not.';

create domain batonpass.counts as jsonb
  constraint counts_not_negative check (jsonb_typeof(value) = 'object' and not value @? '$.** ? (@ < 0)');
comment on domain batonpass.counts is 'An object with no number below zero in it.';

create domain batonpass.note as jsonb constraint note_is_an_object check (jsonb_typeof(value) = 'object');
comment on domain batonpass.note is 'The caller''s own, which nothing here reads.';

create function batonpass.refuse_change() returns trigger language plpgsql as $$
begin
  raise exception using errcode = 'BP002', table = tg_table_name, constraint = tg_name,
    message = format('what is on record stays: %s on %I is refused', tg_op, tg_table_name);
end
$$;
comment on function batonpass.refuse_change is 'Refuses any change to what only grows.';

-- Lets through what may still change of a row, and an erasure: a text gives way to [erased], and nothing else does.
create function batonpass.keep_record() returns trigger language plpgsql as $$
declare
  may_change constant text[] := tg_argv[0];
  texts      constant text[] := tg_argv[1];
  before     constant jsonb := to_jsonb(old);
  refused    text;
begin
  select string_agg(key, ', ') into refused from jsonb_each(to_jsonb(new))
  where value is distinct from before -> key and not key = any (may_change)
    and not (key = any (texts) and value = '"[erased]"' and before -> key <> 'null');
  if refused is not null then
    raise exception using errcode = 'BP002', table = tg_table_name, constraint = tg_name,
      message = format('what is on record stays: changing %s of %I is refused', refused, tg_table_name);
  end if;
  return new;
end
$$;
comment on function batonpass.keep_record is 'Refuses to change what is settled, but for the erasure of a text.';

-- Conversations: one row per long piece of work. Only its budget, the latest new prompt, whether it
-- is closed and the caller's note ever change.
create table batonpass.conversations (
  id                uuid        not null,
  external_key      batonpass.non_blank,
  subject           batonpass.non_blank,
  original_task     batonpass.non_blank not null,
  parent_id         uuid,
  working_directory text,
  worktree_path     text,
  branch            text,
  base_branch       text,
  restart_budget    batonpass.counts not null,
  asked             batonpass.counts,
  opened_at         timestamptz not null,
  closed_at         timestamptz,
  metadata          batonpass.note,
  constraint conversations_pkey primary key (id),
  constraint conversations_external_key_once unique (external_key),
  constraint conversations_parent_exists foreign key (parent_id) references batonpass.conversations (id),
  constraint conversations_parent_is_another check (parent_id <> id),
  constraint conversations_asked_in_full check (asked ?& '{mark,prompt,sequence,restarts,takeovers}')
);
comment on table batonpass.conversations is 'One long piece of work: a job, a thread, an issue. Outlives many windows.';
comment on index batonpass.conversations_pkey is 'Which conversation has this id?';
comment on index batonpass.conversations_external_key_once is
  'Which conversation has the key of this job? Opening a key twice finds the same one.';

create index conversations_by_parent on batonpass.conversations (parent_id, opened_at, id) where parent_id is not null;
comment on index batonpass.conversations_by_parent is 'Which threads grew out of this conversation, oldest first?';

create index conversations_by_metadata on batonpass.conversations using gin (metadata jsonb_path_ops)
  where metadata is not null;
comment on index batonpass.conversations_by_metadata is 'Which conversations have a note that contains this?';

create index conversations_by_age on batonpass.conversations (opened_at, id);
comment on index batonpass.conversations_by_age is 'Which conversations are there, page by page?';

create trigger conversations_stay before update on batonpass.conversations
  for each row execute function batonpass.keep_record('{restart_budget,asked,closed_at,metadata}', '{original_task}');
create trigger conversations_never_deleted before delete on batonpass.conversations
  for each row execute function batonpass.refuse_change();

-- Sessions: one row per window's life. Progress is running figures, so that a turn costs the same at any length.
create table batonpass.agent_sessions (
  conversation_id       uuid        not null,
  id                    uuid        not null,
  epoch                 integer     not null,
  agent_name            batonpass.trimmed not null,
  backend               batonpass.non_blank not null,
  model                 batonpass.non_blank,
  provider_session_id   batonpass.non_blank,
  parent_session_id     uuid,
  initiated_by_handoff  uuid,
  start_sequence        bigint      not null,
  started_at            timestamptz not null,
  holder                uuid        not null,
  version               bigint      not null,
  turns                 integer     not null,
  last_turn_id          uuid,
  next_sequence         bigint      not null,
  last_sequence         bigint,
  exchange_start        bigint,
  window_start          bigint,
  window_end            bigint,
  window_user           integer     not null,
  window_assistant      integer     not null,
  window_tool           integer     not null,
  window_system         integer     not null,
  window_usage          batonpass.counts not null,
  totals                batonpass.counts,
  takeovers             integer,
  state                 text        not null,
  held_by               uuid,
  terminated_by_handoff uuid,
  end_sequence          bigint,
  end_reason            batonpass.non_blank,
  ended_by              text,
  ended_at              timestamptz,
  metadata              batonpass.note,
  constraint agent_sessions_pkey primary key (conversation_id, id),
  constraint agent_sessions_epoch_once unique (conversation_id, epoch),
  constraint agent_sessions_conversation_exists
    foreign key (conversation_id) references batonpass.conversations (id),
  constraint agent_sessions_state_known
    check (state in ('active', 'paused', 'handed_off', 'completed', 'failed')),
  constraint agent_sessions_held_only_while_paused check (held_by is null or state = 'paused'),
  constraint agent_sessions_end_only_when_ended
    check ((ended_at is not null) = (state in ('handed_off', 'completed', 'failed'))),
  constraint agent_sessions_ends_with_its_last_message
    check (end_sequence is not distinct from case when ended_at is not null then last_sequence end),
  constraint agent_sessions_handed_off_names_handoff
    check ((terminated_by_handoff is not null) = (state = 'handed_off')),
  constraint agent_sessions_failed_says_why check ((end_reason is not null) = (state = 'failed')),
  constraint agent_sessions_ended_by_known
    check (ended_by in ('restarts', 'deadline', 'cost', 'takeovers', 'turns', 'no_progress')),
  constraint agent_sessions_ended_by_when_failed check (ended_by is null or state = 'failed'),
  constraint agent_sessions_takeovers_counted check (takeovers >= 1),
  constraint agent_sessions_window_has_both_ends check ((window_start is null) = (window_end is null)),
  constraint agent_sessions_counts_from_one check (epoch >= 1 and start_sequence >= 1 and version >= 1 and turns >= 0)
);
comment on table batonpass.agent_sessions is 'One window''s life inside a conversation: one agent, one provider session.';
comment on index batonpass.agent_sessions_pkey is 'What does a turn, message or handoff of this conversation belong to?';
comment on index batonpass.agent_sessions_epoch_once is 'What sessions did this conversation have, in order?';

create unique index agent_sessions_one_baton on batonpass.agent_sessions (conversation_id)
  where state = 'active' or held_by is not null;
comment on index batonpass.agent_sessions_one_baton is
  'Who has the baton of this conversation? One session at most: active, or held by an open handoff.';

create index agent_sessions_by_id on batonpass.agent_sessions (id);
comment on index batonpass.agent_sessions_by_id is 'Which session has this id?';

create index agent_sessions_by_provider on batonpass.agent_sessions (provider_session_id, started_at)
  where provider_session_id is not null;
comment on index batonpass.agent_sessions_by_provider is 'Which sessions worked this provider session?';

create index agent_sessions_by_metadata on batonpass.agent_sessions using gin (metadata jsonb_path_ops)
  where metadata is not null;
comment on index batonpass.agent_sessions_by_metadata is 'Which sessions have a note that contains this?';

-- Rules about figures that move with every turn, and about what never moves. A CHECK is made ready anew for each
-- statement; this is made ready once, and costs a tenth of it.
create function batonpass.check_progress() returns trigger language plpgsql as $$
declare
  broken text;
begin
  if tg_op = 'UPDATE' and (old.conversation_id, old.id, old.epoch, old.agent_name, old.backend, old.model,
      old.parent_session_id, old.initiated_by_handoff, old.start_sequence, old.started_at)
    is distinct from (new.conversation_id, new.id, new.epoch, new.agent_name, new.backend, new.model,
      new.parent_session_id, new.initiated_by_handoff, new.start_sequence, new.started_at)
  then
    raise exception using errcode = 'BP002', table = tg_table_name, constraint = 'agent_sessions_begun_for_good',
      message = format('what is on record stays: how session %s began is not to change', old.id);
  end if;
  if least(new.window_user, new.window_assistant, new.window_tool, new.window_system) < 0
    or (new.window_start is null) <> (new.window_user + new.window_assistant + new.window_tool + new.window_system = 0)
    or new.window_user + new.window_assistant + new.window_tool + new.window_system > new.window_end - new.window_start + 1
  then
    broken := 'agent_sessions_counts_its_window';
  elsif new.next_sequence <= greatest(new.start_sequence - 1, new.last_sequence)
    or least(new.last_sequence, new.exchange_start, new.window_start) < new.start_sequence
    or greatest(new.exchange_start, new.window_start, new.window_end) > coalesce(new.last_sequence, 0)
    or new.window_start > new.window_end
  then
    broken := 'agent_sessions_places_in_order';
  elsif (new.last_turn_id is null) <> (new.turns = 0) or new.turns > new.next_sequence - new.start_sequence then
    broken := 'agent_sessions_last_turn_if_any';
  end if;
  if broken is not null then
    raise exception using errcode = '23514', table = tg_table_name, constraint = broken,
      message = format('the figures of session %s contradict each other', new.id);
  end if;
  return null;
end
$$;
comment on function batonpass.check_progress is 'Whether the figures of a session agree, and how it began stays.';

create trigger agent_sessions_progress after insert or update on batonpass.agent_sessions
  for each row execute function batonpass.check_progress();
create trigger agent_sessions_ended_for_good after update on batonpass.agent_sessions
  for each row when (old.ended_at is not null)
  execute function batonpass.keep_record('{metadata}', '{end_reason}');
create trigger agent_sessions_never_deleted before delete on batonpass.agent_sessions
  for each row execute function batonpass.refuse_change();
create trigger agent_sessions_never_emptied before truncate on batonpass.agent_sessions
  for each statement execute function batonpass.refuse_change();

-- Turns: one row per request/response on a session's main thread. Only ever added, and the last one added to while its
-- session is being left.
create table batonpass.turns (
  conversation_id uuid        not null,
  id              uuid        not null,
  session_id      uuid        not null,
  number          integer     not null,
  start_sequence  bigint      not null,
  end_sequence    bigint      not null,
  usage           batonpass.counts not null,
  recorded_at     timestamptz not null,
  constraint turns_pkey primary key (conversation_id, id),
  constraint turns_number_once unique (conversation_id, session_id, number),
  constraint turns_session_exists foreign key (conversation_id, session_id)
    references batonpass.agent_sessions (conversation_id, id),
  constraint turns_range_in_order check (number >= 1 and start_sequence >= 1 and end_sequence >= start_sequence)
);
comment on table batonpass.turns is 'One request/response of a session: its messages, tool calls and usage reading.';
comment on index batonpass.turns_pkey is 'Which turn of this conversation led to a handoff, or said this?';
comment on index batonpass.turns_number_once is 'What are the turns of this session, in order?';

-- The id leads, and the rest lets messages and sessions refer to a turn of their own session.
create unique index turns_by_id on batonpass.turns (id, session_id, conversation_id);
comment on index batonpass.turns_by_id is 'Which turn has this id?';

alter table batonpass.agent_sessions
  add constraint agent_sessions_last_turn_exists foreign key (conversation_id, last_turn_id, id)
    references batonpass.turns (conversation_id, id, session_id) deferrable initially deferred;

create trigger turns_stay before update on batonpass.turns
  for each row execute function batonpass.keep_record('{end_sequence}', '{}');
create trigger turns_never_deleted before delete on batonpass.turns
  for each row execute function batonpass.refuse_change();
create trigger turns_never_emptied before truncate on batonpass.turns
  for each statement execute function batonpass.refuse_change();

-- Messages: numbered in their conversation. Only ever added.
create table batonpass.messages (
  conversation_id uuid        not null,
  sequence_number bigint      not null,
  id              uuid        not null,
  session_id      uuid        not null,
  turn_id         uuid,
  role            text        not null,
  origin          text        not null,
  text            text        not null,
  recorded_at     timestamptz not null,
  cut_length      bigint,
  cut_sha256      text,
  provider_message_id batonpass.non_blank,
  constraint messages_pkey primary key (conversation_id, sequence_number),
  constraint messages_place_whole unique (conversation_id, sequence_number, session_id, turn_id),
  constraint messages_session_exists foreign key (conversation_id, session_id)
    references batonpass.agent_sessions (conversation_id, id),
  constraint messages_turn_exists foreign key (conversation_id, turn_id, session_id)
    references batonpass.turns (conversation_id, id, session_id),
  constraint messages_role_known check (role in ('user', 'assistant', 'tool', 'system')),
  constraint messages_origin_known check (origin in ('person', 'runtime', 'tool', 'hook', 'batonpass')),
  constraint messages_role_fits_origin
    check ((role = 'tool') = (origin = 'tool') and (role <> 'assistant' or origin = 'runtime')),
  constraint messages_counts_from_one check (sequence_number >= 1),
  constraint messages_cut_whole check ((cut_length is null) = (cut_sha256 is null)),
  constraint messages_cut_plausible check (cut_length >= 1 and cut_sha256 ~ '^[0-9a-f]{64}$')
);
comment on table batonpass.messages is 'One message of a conversation.';
comment on column batonpass.messages.origin is
  'Where it comes from: what a user says may be a person''s, a hook''s, the runtime''s or our own.';
comment on column batonpass.messages.cut_length is 'How many characters the whole text had, when this is only its beginning.';
comment on column batonpass.messages.cut_sha256 is 'The SHA-256 of that whole text in UTF-8.';
comment on column batonpass.messages.provider_message_id is
  'The runtime''s own name for it, or for the call that it answers: what is read back from a transcript is known by it.';
comment on index batonpass.messages_pkey is 'What was said in this conversation, in order?';
comment on index batonpass.messages_place_whole is 'Which message of which turn and session made this tool call?';

create index messages_of_people on batonpass.messages (conversation_id, sequence_number) where origin = 'person';
comment on index batonpass.messages_of_people is 'What did people say in this conversation, newest first, and how often?';

create trigger messages_stay before update on batonpass.messages
  for each row execute function batonpass.keep_record('{}', '{text}');
create trigger messages_never_deleted before delete on batonpass.messages
  for each row execute function batonpass.refuse_change();
create trigger messages_never_emptied before truncate on batonpass.messages
  for each statement execute function batonpass.refuse_change();

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
