drop function batonpass.keep_notes;
drop function batonpass.overtaken;
drop function batonpass.commit_unit;
drop function batonpass.append_audit;
