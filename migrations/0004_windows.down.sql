drop table batonpass.session_leases;
drop index batonpass.context_snapshots_truncations;
drop table batonpass.context_signals;
drop table batonpass.context_monitors;
