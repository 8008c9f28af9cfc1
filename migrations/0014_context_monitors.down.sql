drop function batonpass.acknowledge_signals;
drop function batonpass.keep_signals;
drop function batonpass.truncated_to;
drop index batonpass.context_snapshots_truncations;
drop table batonpass.context_signals;
drop table batonpass.context_monitors;
