-- Refused while there is text of unknown origin: the record is not rewritten, and an older program cannot read it.
alter table batonpass.messages
  drop constraint messages_origin_known,
  drop constraint messages_role_fits_origin,
  add constraint messages_origin_known check (origin in ('person', 'runtime', 'tool', 'hook', 'batonpass')),
  add constraint messages_role_fits_origin
    check ((role = 'tool') = (origin = 'tool') and (role <> 'assistant' or origin = 'runtime'));
comment on column batonpass.messages.origin is
  'Where it comes from: what a user says may be a person''s, a hook''s, the runtime''s or our own.';
