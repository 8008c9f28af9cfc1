drop function batonpass.tool_calls_within;
drop function batonpass.handoff_document;
drop table batonpass.handoff_tool_calls;
