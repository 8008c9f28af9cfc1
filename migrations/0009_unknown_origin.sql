-- Text of unknown origin: given to the agent as a user's, by nobody that is known. Only such a text can have it.
alter table batonpass.messages
  drop constraint messages_origin_known,
  drop constraint messages_role_fits_origin,
  add constraint messages_origin_known
    check (origin in ('person', 'runtime', 'tool', 'hook', 'batonpass', 'unknown')),
  add constraint messages_role_fits_origin
    check ((role = 'tool') = (origin = 'tool') and (role <> 'assistant' or origin = 'runtime')
      and (origin <> 'unknown' or role = 'user'));
comment on column batonpass.messages.origin is
  'Where it comes from: what a user says may be a person''s, a hook''s, the runtime''s, our own, or of unknown origin.';
