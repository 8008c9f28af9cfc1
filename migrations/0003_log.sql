-- Commands that were carried out. Keyed by the command alone: a repetition must be known before its conversation is.
create table batonpass.commands (
  id              uuid        not null,
  conversation_id uuid        not null,
  digest          text        not null,
  receipt         jsonb,
  kept_at         timestamptz not null default clock_timestamp(),
  constraint commands_pkey primary key (id),
  constraint commands_receipt_is_object check (jsonb_typeof(receipt) = 'object')
);
comment on table batonpass.commands is 'Commands that were carried out, so that repeating one gives the first answer.';
comment on index batonpass.commands_pkey is 'Was this command carried out before?';
comment on column batonpass.commands.kept_at is 'When, by this database''s clock: what is old enough may be forgotten.';

create index commands_by_age on batonpass.commands (kept_at);
comment on index batonpass.commands_by_age is 'Which commands are old enough to be forgotten, oldest first?';
comment on column batonpass.commands.digest is 'A salt, and the SHA-256 of it and what was asked: tells a repetition from a reuse.';
comment on column batonpass.commands.receipt is 'What was answered, as far as it may change afterwards; NULL when only the call itself knew the id.';

-- They may be deleted when nobody repeats them any more, and never answer anything else than they did.
create trigger commands_stay before update on batonpass.commands
  for each row execute function batonpass.refuse_change();

-- The audit log: one gap-free, hash-chained stream per conversation.
create table batonpass.audit_heads (
  conversation_id uuid   not null,
  position        bigint not null,
  hash            bytea  not null,
  transaction_id  xid8   not null default '0',
  constraint audit_heads_pkey primary key (conversation_id),
  constraint audit_heads_conversation_exists foreign key (conversation_id) references batonpass.conversations (id)
);
comment on table batonpass.audit_heads is
  'Where each stream ends. Writers lock this row; locking the newest entry instead would let two of them follow it.';
comment on column batonpass.audit_heads.transaction_id is 'The highest that wrote to the stream; it never falls.';
comment on index batonpass.audit_heads_pkey is 'Where does the stream of this conversation end?';

-- A conversation begins its stream when it is opened; those opened before there was a log begin it here.
insert into batonpass.audit_heads select id, 0, sha256(uuid_send(id)) from batonpass.conversations;

create table batonpass.audit_entries (
  conversation_id uuid   not null,
  position        bigint not null,
  command_id      uuid   not null,
  body            text   not null,
  previous_hash   bytea  not null,
  hash            bytea  not null,
  transaction_id  xid8   not null default pg_current_xact_id(),
  constraint audit_entries_pkey primary key (conversation_id, position)
);
comment on table batonpass.audit_entries is 'What happened. Never changed: a trigger refuses.';
comment on index batonpass.audit_entries_pkey is 'What happened in this conversation, in order?';
comment on column batonpass.audit_entries.body is
  'The event as canonical JSON text, each text in it replaced by a salted digest.';
comment on column batonpass.audit_entries.transaction_id is 'Lets a reader of the feed tell what may still be in flight.';

create index audit_entries_by_transaction on batonpass.audit_entries (transaction_id, conversation_id, position);
comment on index batonpass.audit_entries_by_transaction is 'What happened anywhere since this point of the feed?';

-- Beside the entries, not in them: erasing a text means erasing its salt too, and the chain still verifies.
create table batonpass.audit_salts (
  conversation_id uuid   not null,
  position        bigint not null,
  salt            text   not null,
  constraint audit_salts_pkey primary key (conversation_id, position),
  constraint audit_salts_is_salt check (salt ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$')
);
comment on table batonpass.audit_salts is 'The salts of the text digests in audit entries.';
comment on index batonpass.audit_salts_pkey is 'What salt do the digests of this entry need?';

create function batonpass.audit_hash(previous bytea, conversation uuid, place bigint, command uuid, body text) returns bytea
language sql stable as $$ -- not immutable, though it is: only so it is written out where it is called
  select sha256(
    int4send(length(previous)) || previous ||
    int4send(16) || uuid_send(conversation) ||
    int4send(8) || int8send(place) ||
    int4send(16) || uuid_send(command) ||
    int4send(32) || sha256(convert_to(body, 'UTF8')))
$$;
comment on function batonpass.audit_hash is 'The hash of an entry: length-prefixed fields, its predecessor first.';

create trigger audit_entries_only_grow before update or delete on batonpass.audit_entries
  for each row execute function batonpass.refuse_change();
create trigger audit_entries_never_emptied before truncate on batonpass.audit_entries
  for each statement execute function batonpass.refuse_change();

create trigger audit_heads_never_deleted before delete on batonpass.audit_heads
  for each row execute function batonpass.refuse_change();
create trigger audit_heads_never_emptied before truncate on batonpass.audit_heads
  for each statement execute function batonpass.refuse_change();

-- Erasing a text deletes its salt; another salt has no place there.
create trigger audit_salts_stay before update on batonpass.audit_salts
  for each row execute function batonpass.refuse_change();
