alter table batonpass.agent_sessions
  drop constraint agent_sessions_held_by_exists,
  drop constraint agent_sessions_terminated_by_exists;
drop table batonpass.handoffs;
