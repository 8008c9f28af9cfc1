drop table batonpass.agent_sessions;
