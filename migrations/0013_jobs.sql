-- A report goes by when sessions last began or ended. Neither time moves with a turn.
create index agent_sessions_by_latest on batonpass.agent_sessions ((coalesce(ended_at, started_at)));
comment on index batonpass.agent_sessions_by_latest is
  'Which sessions of any conversation began or ended since this time?';
