drop table batonpass.audit_salts;
drop table batonpass.audit_entries;
drop table batonpass.audit_heads;
drop function batonpass.audit_hash;
drop table batonpass.commands;
