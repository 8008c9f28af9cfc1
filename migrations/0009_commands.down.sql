drop function batonpass.prune_commands;
drop table batonpass.commands;
