-- Commands that were carried out. Keyed by the command alone: a repetition must be known before its conversation is.
create table batonpass.commands (
  id              uuid  not null,
  conversation_id uuid  not null,
  digest          text  not null,
  receipt         jsonb not null,
  constraint commands_pkey primary key (id)
);
comment on table batonpass.commands is 'Commands that were carried out, so that repeating one gives the first answer.';
comment on index batonpass.commands_pkey is 'Was this command carried out before?';
comment on column batonpass.commands.digest is 'A salt, and the SHA-256 of it and what was asked: tells a repetition from a reuse.';
comment on column batonpass.commands.receipt is 'What was answered, as far as it may change afterwards.';

-- They may be deleted when nobody repeats them any more, and never answer anything else than they did.
create trigger commands_stay before update on batonpass.commands
  for each row execute function batonpass.refuse_change();
