-- Handoffs: one row per passing of a conversation. The prior turn is not optional, and must exist in the conversation.
create table batonpass.handoffs (
  conversation_id        uuid        not null,
  id                     uuid        not null,
  kind                   text        not null,
  source_session_id      uuid        not null,
  source_agent           text        not null,
  target_agent           text        not null,
  reason                 text        not null,
  document               text,
  prior_turn_id          uuid        not null,
  flags                  text[]      not null,
  checkpoint             jsonb,
  traceparent            text,
  tracestate             text,
  initiated_at           timestamptz not null,
  version                bigint      not null,
  status                 text        not null,
  claimant               text,
  accepted_at            timestamptz,
  claim_deadline         timestamptz,
  continuation           text,
  prepared_session_id    uuid,
  target_session_id      uuid,
  target_conversation_id uuid,
  end_reason             text,
  ended_at               timestamptz,
  metadata               jsonb,
  constraint handoffs_pkey primary key (conversation_id, id),
  constraint handoffs_source_exists foreign key (conversation_id, source_session_id)
    references batonpass.agent_sessions (conversation_id, id),
  constraint handoffs_prior_turn_exists foreign key (conversation_id, prior_turn_id)
    references batonpass.turns (conversation_id, id),
  constraint handoffs_kind_known check (kind in ('agent_transfer', 'context_restart', 'thread')),
  constraint handoffs_status_known check (status in ('initiated', 'accepted', 'completed', 'cancelled', 'failed')),
  constraint handoffs_flags_known
    check (flags <@ array['minimal_continuation', 'checkpoint_timed_out', 'checkpoint_missing', 'checkpoint_failed',
      'checkpoint_skipped', 'decided_by_hook', 'window_overflowed', 'runtime_lost', 'no_progress']),
  -- Trimmed as programs trim, at least of ASCII blanks; btrim() alone would take a tab for a name.
  constraint handoffs_agents_named
    check (source_agent ~ '[^ \t\n\r\f\v]' and target_agent ~ '[^ \t\n\r\f\v]'),
  constraint handoffs_transfer_changes_agent
    check (kind <> 'agent_transfer'
      or regexp_replace(source_agent, '^[ \t\n\r\f\v]+|[ \t\n\r\f\v]+$', '', 'g')
        <> regexp_replace(target_agent, '^[ \t\n\r\f\v]+|[ \t\n\r\f\v]+$', '', 'g')),
  constraint handoffs_claim_whole
    check ((claimant is null) = (accepted_at is null) and (claimant is null) = (claim_deadline is null)),
  constraint handoffs_claim_when_accepted
    check ((status <> 'initiated' or claimant is null) and (status not in ('accepted', 'completed') or claimant is not null)),
  constraint handoffs_prepared_while_accepted
    check ((continuation is null) = (prepared_session_id is null) and (continuation is null or status = 'accepted')),
  constraint handoffs_target_when_completed check ((target_session_id is not null) = (status = 'completed')),
  constraint handoffs_target_conversation_for_threads
    check ((target_conversation_id is not null) = (kind = 'thread' and status = 'completed')),
  constraint handoffs_threads_never_open check (kind <> 'thread' or status = 'completed'),
  constraint handoffs_ended_when_over
    check ((ended_at is not null) = (status in ('completed', 'cancelled', 'failed'))),
  constraint handoffs_end_says_why check ((end_reason is not null) = (status in ('cancelled', 'failed'))),
  constraint handoffs_counts_from_one check (version >= 1)
)
-- Room for what changes no index: a checkpoint that is kept, a successor that is prepared.
with (fillfactor = 80);
comment on table batonpass.handoffs is 'The passing of a conversation from a source session to a target.';
comment on index batonpass.handoffs_pkey is
  'Which handoff of this conversation holds, or ended, a session? Which handoffs, a handful, did it have?';

create unique index handoffs_one_open_per_source on batonpass.handoffs (conversation_id, source_session_id)
  where status in ('initiated', 'accepted');
comment on index batonpass.handoffs_one_open_per_source is 'Which handoff of this session is open? One at most.';

create index handoffs_by_id on batonpass.handoffs (id);
comment on index batonpass.handoffs_by_id is 'Which handoff has this id?';

create index handoffs_by_metadata on batonpass.handoffs using gin (metadata jsonb_path_ops) where metadata is not null;
comment on index batonpass.handoffs_by_metadata is 'Which handoffs have a note that contains this?';

create index handoffs_by_prior_turn on batonpass.handoffs (conversation_id, prior_turn_id);
comment on index batonpass.handoffs_by_prior_turn is 'Which handoffs did this turn lead to?';

-- Unclaimed ones have no deadline and stand together in order; claims that hold stand past all that have run out.
create index handoffs_pending on batonpass.handoffs (target_agent, claim_deadline, initiated_at)
  where status in ('initiated', 'accepted');
comment on index batonpass.handoffs_pending is
  'What waits for this agent, oldest first, and which claims on the rest have run out?';

alter table batonpass.agent_sessions
  add constraint agent_sessions_held_by_exists foreign key (conversation_id, held_by)
    references batonpass.handoffs (conversation_id, id) deferrable initially deferred,
  add constraint agent_sessions_terminated_by_exists foreign key (conversation_id, terminated_by_handoff)
    references batonpass.handoffs (conversation_id, id) deferrable initially deferred;
