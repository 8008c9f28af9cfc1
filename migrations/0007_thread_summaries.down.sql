drop trigger handoffs_erase_summary on batonpass.handoffs;
drop function batonpass.erase_thread_summary;
drop table batonpass.thread_summaries;
