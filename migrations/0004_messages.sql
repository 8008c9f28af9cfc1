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
