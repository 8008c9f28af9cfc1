alter table batonpass.agent_sessions drop constraint agent_sessions_last_turn_exists;
drop table batonpass.turns;
