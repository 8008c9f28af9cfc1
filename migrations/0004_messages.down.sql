drop table batonpass.messages;
