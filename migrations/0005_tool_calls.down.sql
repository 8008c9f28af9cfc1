drop table batonpass.tool_calls;
