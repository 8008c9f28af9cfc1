drop trigger agent_sessions_begin_as_handed on batonpass.agent_sessions;
drop trigger agent_sessions_move_as_handed on batonpass.agent_sessions;
drop trigger turns_extended_while_left on batonpass.turns;
drop table batonpass.handoffs;
drop function batonpass.keep_origin;
drop function batonpass.check_extension;
drop function batonpass.check_handoff;
drop function batonpass.check_session;
