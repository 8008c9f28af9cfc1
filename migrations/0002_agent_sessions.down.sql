drop table batonpass.agent_sessions;
drop function batonpass.check_progress;
