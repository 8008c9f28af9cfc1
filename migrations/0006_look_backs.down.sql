drop table batonpass.look_backs;
