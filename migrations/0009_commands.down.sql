drop table batonpass.commands;
