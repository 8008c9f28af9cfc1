drop table batonpass.conversations;
drop function batonpass.keep_record;
drop function batonpass.refuse_change;
drop domain batonpass.note;
drop domain batonpass.counts;
drop domain batonpass.trimmed;
drop domain batonpass.non_blank;
