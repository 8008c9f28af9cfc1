-- Tokens of holders are kept as digests, and no receipt has one. Whoever reads a digest cannot show the token: functions
-- take the token itself and digest it. Live processes go on with the tokens that they have.
drop function if exists batonpass.renew_lease_v1(uuid, uuid, integer);
drop function if exists batonpass.keep_processes_v1(uuid, uuid, jsonb);
drop function if exists batonpass.drop_leases_v1(jsonb);
drop function if exists batonpass.set_leases_v1(jsonb);

create domain batonpass.holder_digest as text
  constraint holder_digest_is_sha256 check (value ~ '^[A-Za-z0-9+/]{43}$');
comment on domain batonpass.holder_digest is 'The SHA-256 of a holder''s token, in base64 without padding. A token has another form, and is refused.';

create function batonpass.token_digest(token text) returns text language sql immutable parallel safe as $$
  select rtrim(encode(sha256(convert_to(token, 'UTF8')), 'base64'), '=')
$$;
comment on function batonpass.token_digest is 'The digest of a holder''s token, as sessions and leases keep it.';

alter table batonpass.agent_sessions
  alter column holder type batonpass.holder_digest using batonpass.token_digest(holder::text);
alter table batonpass.session_leases
  alter column holder type batonpass.holder_digest using batonpass.token_digest(holder::text);
comment on column batonpass.agent_sessions.holder is 'The digest of the token of the process that works the session now.';
comment on column batonpass.session_leases.holder is 'The digest of the token of the process that promised to be heard of.';

-- A receipt that had a token no longer has the form that the log sealed. It says so: verifying counts it, and does not
-- take it for a forgery.
alter table batonpass.commands disable trigger commands_stay;
update batonpass.commands set receipt = (receipt - 'holder') || '{"tokenRemoved": true}' where receipt ? 'holder';
alter table batonpass.commands enable trigger commands_stay;
alter table batonpass.commands
  add constraint commands_receipt_has_no_token check (not receipt ? 'holder');
