drop table batonpass.turns;
