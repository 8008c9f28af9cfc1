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
