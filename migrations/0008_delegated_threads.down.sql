drop index batonpass.messages_one_report;
alter table batonpass.messages
  drop constraint messages_report_is_ours,
  drop constraint messages_report_exists,
  drop column reports_handoff_id;
drop index batonpass.handoffs_delegated;
alter table batonpass.handoffs
  drop constraint handoffs_only_threads_delegated,
  drop constraint handoffs_flags_known,
  add constraint handoffs_flags_known
    check (flags <@ array['minimal_continuation', 'checkpoint_timed_out', 'checkpoint_missing', 'checkpoint_failed',
      'checkpoint_skipped', 'checkpoint_unstructured', 'recap_from_record', 'decided_by_hook', 'window_overflowed',
      'runtime_lost', 'no_progress']);
