-- Delegated threads: the source waits for their outcome, which one message of its conversation reports.
alter table batonpass.handoffs
  drop constraint handoffs_flags_known,
  add constraint handoffs_flags_known
    check (flags <@ array['minimal_continuation', 'checkpoint_timed_out', 'checkpoint_missing', 'checkpoint_failed',
      'checkpoint_skipped', 'checkpoint_unstructured', 'recap_from_record', 'decided_by_hook', 'window_overflowed',
      'runtime_lost', 'no_progress', 'delegated']),
  add constraint handoffs_only_threads_delegated check (kind = 'thread' or not flags @> array['delegated']);

create index handoffs_delegated on batonpass.handoffs (conversation_id, initiated_at, id)
  where flags @> array['delegated'];
comment on index batonpass.handoffs_delegated is
  'Which threads did this conversation delegate, oldest first? A handful, however long its history is.';

alter table batonpass.messages
  add column reports_handoff_id uuid,
  add constraint messages_report_exists foreign key (conversation_id, reports_handoff_id)
    references batonpass.handoffs (conversation_id, id),
  add constraint messages_report_is_ours check (reports_handoff_id is null or origin = 'batonpass');
comment on column batonpass.messages.reports_handoff_id is 'The thread whose outcome it reports.';

create unique index messages_one_report on batonpass.messages (conversation_id, reports_handoff_id)
  where reports_handoff_id is not null;
comment on index batonpass.messages_one_report is 'Which message reports the outcome of this thread? One at most.';
