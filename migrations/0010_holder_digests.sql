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

-- What a program may write as JSON has the form that every reader expects: one ill-formed row would stop them all. Rows
-- of before are left as they are, and shown as broken.
create function batonpass.is_process(process jsonb) returns boolean language sql immutable parallel safe as $$
  select coalesce(
    jsonb_typeof(process) = 'object'
    and process - '{host,bootId,pidNamespace,userId,mark,leader}'::text[] = '{}'
    and jsonb_typeof(process -> 'host') = 'string' and jsonb_typeof(process -> 'bootId') = 'string'
    and jsonb_typeof(process -> 'pidNamespace') = 'string' and jsonb_typeof(process -> 'mark') = 'string'
    and length(process ->> 'mark') > 0 and process ->> 'userId' ~ '^[0-9]{1,10}$'
    and jsonb_typeof(process -> 'userId') = 'number'
    and (not process ? 'leader' or (
      jsonb_typeof(process -> 'leader') = 'object'
      and (process -> 'leader') - '{pid,startTime}'::text[] = '{}'
      and jsonb_typeof(process -> 'leader' -> 'pid') = 'number' and process -> 'leader' ->> 'pid' ~ '^[1-9][0-9]{0,9}$'
      and jsonb_typeof(process -> 'leader' -> 'startTime') = 'string')), false)
$$;
comment on function batonpass.is_process is 'Whether a document says which process it is about, and nothing else.';

create function batonpass.are_processes(processes jsonb) returns boolean language sql immutable parallel safe as $$
  select jsonb_typeof(processes) = 'array'
    and not exists (select from jsonb_array_elements(processes) as one (process) where not batonpass.is_process(process))
$$;
comment on function batonpass.are_processes is 'Whether a document is a list of processes.';

create function batonpass.is_budget(budget jsonb) returns boolean language sql immutable parallel safe as $$
  select coalesce(
    jsonb_typeof(budget) = 'object'
    and budget - '{maxRestarts,deadlineMs,maxCostUsd,maxTakeovers,whenExhausted}'::text[] = '{}'
    and jsonb_typeof(budget -> 'maxRestarts') = 'number'
    and coalesce(jsonb_typeof(budget -> 'deadlineMs'), 'number') = 'number'
    and coalesce(jsonb_typeof(budget -> 'maxCostUsd'), 'number') = 'number'
    and coalesce(jsonb_typeof(budget -> 'maxTakeovers'), 'number') = 'number'
    and budget ->> 'whenExhausted' in ('stop', 'carry_on'), false)
$$;
comment on function batonpass.is_budget is 'Whether a document is the restart budget of a conversation.';

create function batonpass.is_asked(asked jsonb) returns boolean language sql immutable parallel safe as $$
  select asked - '{mark,prompt,sequence,restarts,takeovers}'::text[] = '{}'
    and jsonb_typeof(asked -> 'mark') = 'number' and jsonb_typeof(asked -> 'prompt') = 'string'
    and jsonb_typeof(asked -> 'sequence') = 'number' and jsonb_typeof(asked -> 'restarts') = 'number'
    and jsonb_typeof(asked -> 'takeovers') = 'number'
$$;
comment on function batonpass.is_asked is 'Whether a document is the latest new prompt of a conversation.';

create function batonpass.is_usage(usage jsonb) returns boolean language sql immutable parallel safe as $$
  select coalesce(case usage ->> 'state'
    when 'unknown' then usage - 'state' = '{}'
    when 'metered' then usage - '{state,promptTokens,outputTokens,pendingTokens,provenance}'::text[] = '{}'
      and jsonb_typeof(usage -> 'promptTokens') = 'number' and jsonb_typeof(usage -> 'outputTokens') = 'number'
      and coalesce(jsonb_typeof(usage -> 'pendingTokens'), 'number') = 'number'
    when 'percentage' then usage - '{state,usedPercent,provenance}'::text[] = '{}'
      and jsonb_typeof(usage -> 'usedPercent') = 'number' end
    and (not usage ? 'provenance' or (
      jsonb_typeof(usage -> 'provenance') = 'object'
      and (usage -> 'provenance') - '{runtime,source,semantics}'::text[] = '{}'
      and jsonb_typeof(usage -> 'provenance' -> 'runtime') = 'string'
      and jsonb_typeof(usage -> 'provenance' -> 'source') = 'string'
      and usage -> 'provenance' ->> 'semantics' in ('exact', 'lower_bound', 'estimate'))), false)
$$;
comment on function batonpass.is_usage is 'Whether a document is a reading of usage.';

create function batonpass.are_totals(totals jsonb) returns boolean language sql immutable parallel safe as $$
  select coalesce(
    jsonb_typeof(totals) = 'object' and totals ?& '{inputTokens,outputTokens}'::text[]
    and totals - '{inputTokens,outputTokens,requests,cacheReadTokens,cacheWriteTokens,costUsd,estimatedUsd}'::text[] = '{}'
    and not totals @? '$.* ? (@.type() != "number")', false)
$$;
comment on function batonpass.are_totals is 'Whether a document is usage in sum.';

create function batonpass.is_checkpoint(checkpoint jsonb) returns boolean language sql immutable parallel safe as $$
  select coalesce(
    checkpoint - '{outcome,reason,characters,isCut,sections,statements,attempts,totals}'::text[] = '{}'
    and checkpoint ->> 'outcome' in ('kept', 'missing', 'failed', 'timed_out', 'skipped')
    and coalesce(jsonb_typeof(checkpoint -> 'reason'), 'string') = 'string'
    and coalesce(jsonb_typeof(checkpoint -> 'characters'), 'number') = 'number'
    and coalesce(jsonb_typeof(checkpoint -> 'isCut'), 'boolean') = 'boolean'
    and coalesce(jsonb_typeof(checkpoint -> 'sections'), 'array') = 'array'
    and coalesce(checkpoint -> 'sections', '[]') <@ '["Goal", "Completed work", "Current state", "Remaining tasks", "Do not redo", "Key decisions", "Open issues", "Files changed"]'
    and coalesce(jsonb_typeof(checkpoint -> 'attempts'), 'number') = 'number'
    and (not checkpoint ? 'statements' or (
      jsonb_typeof(checkpoint -> 'statements') = 'object'
      and checkpoint -> 'statements' ?& '{cited,uncited,miscited,exempt}'::text[]
      and (checkpoint -> 'statements') - '{cited,uncited,miscited,exempt}'::text[] = '{}'
      and not checkpoint @? '$.statements.* ? (@.type() != "number")'))
    and (not checkpoint ? 'totals' or batonpass.are_totals(checkpoint -> 'totals')), false)
$$;
comment on function batonpass.is_checkpoint is 'Whether a document has the facts about a checkpoint.';

create function batonpass.is_window(parts jsonb) returns boolean language sql immutable parallel safe as $$
  select coalesce(
    jsonb_typeof(parts) = 'object'
    and parts - '{hardLimit,configuredLimit,autoCompactAt,compactedAt}'::text[] = '{}'
    and not (parts - 'hardLimit') @? '$.* ? (@.type() != "number")'
    and (not parts ? 'hardLimit' or (
      jsonb_typeof(parts -> 'hardLimit') = 'object' and (parts -> 'hardLimit') - '{tokens,source}'::text[] = '{}'
      and jsonb_typeof(parts -> 'hardLimit' -> 'tokens') = 'number'
      and parts -> 'hardLimit' ->> 'source' in ('runtime', 'configured', 'suffix', 'catalogue', 'observed'))), false)
$$;
comment on function batonpass.is_window is 'Whether a document says what is known of a window.';

alter table batonpass.conversations
  add constraint conversations_budget_formed check (batonpass.is_budget(restart_budget)) not valid,
  add constraint conversations_asked_formed check (batonpass.is_asked(asked)) not valid;
alter table batonpass.session_leases
  add constraint session_leases_processes_formed check (batonpass.are_processes(processes)) not valid,
  add constraint session_leases_runner_formed check (runner is null or batonpass.is_process(runner)) not valid;
alter table batonpass.agent_sessions
  add constraint agent_sessions_usage_formed check (batonpass.is_usage(window_usage)) not valid,
  add constraint agent_sessions_totals_formed check (totals is null or batonpass.are_totals(totals)) not valid;
alter table batonpass.handoffs
  add constraint handoffs_checkpoint_formed check (checkpoint is null or batonpass.is_checkpoint(checkpoint)) not valid;
alter table batonpass.context_monitors
  add constraint context_monitors_reading_formed check (batonpass.is_usage(reading)) not valid,
  add constraint context_monitors_window_formed check (batonpass.is_window(window_parts)) not valid;
