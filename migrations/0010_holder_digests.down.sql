-- Tokens cannot be made from digests: after this no process has the token of a session, and each must be taken over.
-- Receipts do not get their tokens back either; who repeats such a command is answered without one.
alter table batonpass.session_leases drop constraint session_leases_runner_formed, drop constraint session_leases_processes_formed;
alter table batonpass.conversations drop constraint conversations_asked_formed, drop constraint conversations_budget_formed;
alter table batonpass.context_monitors drop constraint context_monitors_window_formed, drop constraint context_monitors_reading_formed;
alter table batonpass.handoffs drop constraint handoffs_checkpoint_formed;
alter table batonpass.agent_sessions drop constraint agent_sessions_totals_formed, drop constraint agent_sessions_usage_formed;
drop function batonpass.is_window(jsonb);
drop function batonpass.is_checkpoint(jsonb);
drop function batonpass.are_totals(jsonb);
drop function batonpass.is_usage(jsonb);
drop function batonpass.is_asked(jsonb);
drop function batonpass.is_budget(jsonb);
drop function batonpass.are_processes(jsonb);
drop function batonpass.is_process(jsonb);
alter table batonpass.commands drop constraint commands_receipt_has_no_token;
alter table batonpass.agent_sessions alter column holder type uuid using gen_random_uuid();
alter table batonpass.session_leases alter column holder type uuid using gen_random_uuid();
comment on column batonpass.agent_sessions.holder is null;
comment on column batonpass.session_leases.holder is null;
drop function batonpass.token_digest(text);
drop domain batonpass.holder_digest;
