-- Look backs: one row per question that a session asked about what its conversation had said and done. Only ever added.
create table batonpass.look_backs (
  conversation_id uuid        not null,
  id              uuid        not null,
  session_id      uuid        not null,
  asked_by        text        not null,
  text            batonpass.non_blank not null,
  found           integer     not null,
  asked_at        timestamptz not null,
  constraint look_backs_pkey primary key (conversation_id, id),
  constraint look_backs_session_exists foreign key (conversation_id, session_id)
    references batonpass.agent_sessions (conversation_id, id),
  constraint look_backs_way_known check (asked_by in ('call', 'turn', 'file', 'words')),
  constraint look_backs_found_counted check (found >= 0)
);
comment on table batonpass.look_backs is 'What sessions asked when they looked back: what a checkpoint had left out.';
comment on column batonpass.look_backs.text is 'The call, the turn, the name or the words, cut. A text that can be erased.';
comment on index batonpass.look_backs_pkey is 'Which question of this conversation is this?';

create index look_backs_by_age on batonpass.look_backs (conversation_id, asked_at, id);
comment on index batonpass.look_backs_by_age is 'What was asked in this conversation, oldest first?';

create index look_backs_by_session on batonpass.look_backs (session_id);
comment on index batonpass.look_backs_by_session is 'How much did this session ask?';

create trigger look_backs_stay before update on batonpass.look_backs
  for each row execute function batonpass.keep_record('{}', '{text}');
create trigger look_backs_never_deleted before delete on batonpass.look_backs
  for each row execute function batonpass.refuse_change();
create trigger look_backs_never_emptied before truncate on batonpass.look_backs
  for each statement execute function batonpass.refuse_change();
