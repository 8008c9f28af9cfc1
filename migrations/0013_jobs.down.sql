drop index batonpass.agent_sessions_by_latest;
