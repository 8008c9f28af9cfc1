drop function batonpass.restart_use;
drop function batonpass.budget_use;
drop function batonpass.keep_processes;
drop function batonpass.renew_lease;
drop function batonpass.keep_leases;
drop table batonpass.session_leases;
