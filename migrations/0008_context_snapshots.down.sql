drop table batonpass.context_snapshots;
