drop table batonpass.conversations;
