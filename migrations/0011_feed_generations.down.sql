drop function batonpass.feed_server();
drop table batonpass.feed_generations;
