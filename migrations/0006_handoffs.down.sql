alter table batonpass.agent_sessions
  drop constraint agent_sessions_held_by_exists,
  drop constraint agent_sessions_terminated_by_exists;
drop trigger agent_sessions_begin_as_handed on batonpass.agent_sessions;
drop trigger agent_sessions_move_as_handed on batonpass.agent_sessions;
drop index batonpass.agent_sessions_initiated_once;
drop table batonpass.handoffs;
drop function batonpass.check_handoff;
drop function batonpass.check_session;
