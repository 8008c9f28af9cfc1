/**
 * Why each accepted forgery may be accepted. Names are those of forgeries.golden, as regular expressions in which `*`
 * stands for anything. A program can write none of these but through `commit_unit`, one new row at a time.
 */
export const REASONS: Readonly<Record<string, readonly string[]>> = {
  'It is no forgery: the row says so already, or a row of its own may well have that id or that figure.': [
    'agent_sessions insert, (turns|window_(user|assistant|tool|system)) nought',
    '(agent_sessions|commands|context_signals|context_snapshots|conversations|handoffs|look_backs|messages|turns) insert, id of nobody',
    'conversations insert, parent_id of another conversation',
    'agent_sessions insert, conversation_id of another conversation',
  ],
  'An id that is in two conversations is found by verify. An index over all conversations could not be distributed.': [
    '(agent_sessions|context_signals|context_snapshots|handoffs|look_backs|messages|turns) insert, id of another conversation',
  ],
  'A value that could be true. Whether it is, only the entries can say: verify compares every such column with them.': [
    'agent_sessions insert, (epoch|version|next_sequence|takeovers) far ahead',
    'agent_sessions insert, (agent_name|backend|model|provider_session_id) another',
    'agent_sessions update, (provider_session_id another|(version|next_sequence|takeovers) far ahead)',
    'agent_sessions update, window_(user|assistant) nought',
    'context_snapshots insert, window_(user|assistant|tool|system) nought',
    'context_snapshots insert, window_end far ahead',
    'conversations insert, (external_key|subject|original_task|working_directory|worktree_path|branch|base_branch) another',
    'handoff_tool_calls insert, ordinal far ahead',
    'handoffs insert, (target_agent|reason|document|end_reason|traceparent|tracestate|extract) another',
    'handoffs (update|update, ended), (document|extract) another',
    'handoffs (insert|update), version far ahead',
    'look_backs insert, (text another|found (nought|far ahead))',
    'messages insert, (sequence_number far ahead|text another|provider_message_id another)',
    'tool_calls insert, (position far ahead|call_id another|tool_name another|argument another)',
    'turns insert, (number|end_sequence) far ahead',
  ],
  'A mirror: the summary is also the document of its handoff, which verify compares. What is only here answers questions.':
    [
      'thread_summaries insert, target_conversation_id of (nobody|another conversation)',
      'thread_summaries insert, (agent_name|summary|plain_text|model_used) another',
      'thread_summaries insert, plain_text (empty|blank)',
      'thread_summaries insert, (tokens|refinements) (nought|far ahead)',
      'thread_summaries insert, is_edited turned',
      'thread_summaries insert, accepted_at *',
    ],
  'Documents: columns hold JSON, readers refuse what they could not have written, and verify compares it.': [
    '(context_snapshots|turns) insert, (window_usage|usage) of something else',
  ],
  'Times are those of the callers’ clocks, which may be wrong or differ from machine to machine. Verify compares them.':
    [
      'agent_sessions insert, started_at *',
      'context_snapshots insert, captured_at *',
      'look_backs insert, asked_at *',
      'conversations insert, opened_at *',
      'conversations (insert|update), closed_at *',
      'handoffs insert, (initiated_at|ended_at|kept_at) *',
      '(messages|turns) insert, recorded_at *',
    ],
  'The domain takes it too: a message may be empty, and nothing is asked of documents, places and trace contexts.': [
    'messages insert, text (empty|blank)',
    'tool_calls insert, argument (empty|blank)',
    'handoffs insert, (document|traceparent|tracestate) (empty|blank)',
    'handoffs update, document blank',
    'conversations insert, (working_directory|worktree_path|branch|base_branch) (empty|blank)',
  ],
  'A parent session may be of another conversation; the domain looks whether it is there.': [
    'agent_sessions insert, parent_session_id of (nobody|another conversation)',
  ],
  'Any digest may be that of a token. Whoever may rewrite rows needs none; a program begins a session with its own.': [
    'agent_sessions (insert|update), holder the digest of another token',
  ],
  'A note is the caller’s own, in any state; what it may be is checked where it comes in, and verify compares it.': [
    '(agent_sessions|conversations|handoffs) (insert|update|update, ended), metadata (with a negative number|a list|of something else)',
  ],
  'When a command may be forgotten is no part of what it did.': ['commands insert, kept_at *'],
  'An erasure: a text gives way to [erased], nothing else changes, and an entry must say so or verify reports it.': [
    'story, an erasure of *',
    'audit_salts (delete|truncate)',
  ],
  'The log proves itself: an entry that does not follow from the one before is what verify looks for.': [
    'audit_entries insert, (conversation_id|command_id) of (nobody|another conversation)',
    'audit_entries insert, position (negative|nought|far ahead)',
    'audit_entries insert, body (empty|blank|another)',
    'audit_entries insert, (previous_hash|hash) short',
    'audit_entries insert, transaction_id nought',
    'audit_heads (insert|update), position (negative|nought|far ahead)',
    'audit_heads (insert|update), hash short',
    'audit_heads (insert|update), transaction_id nought',
    'audit_salts insert, conversation_id of (nobody|another conversation)',
    'audit_salts insert, position (negative|nought|far ahead)',
  ],
  'Receipts are compared by verify. A reference to the conversation would lock its row with every command.': [
    'commands insert, conversation_id of (nobody|another conversation)',
    'commands insert, digest (empty|blank|another)',
    'commands insert, receipt (with a negative number|of something else)',
  ],
  'Commands that nobody repeats any more are deleted.': ['commands (delete|truncate)'],
  'Watching is advice and no record: it decides nothing that was promised, and verify says that it does not cover it.':
    [
      'context_monitors (insert|update), (version|cycle) far ahead',
      'context_monitors (insert|update), (is_enabled|is_compacting|awaits_reading) turned',
      'context_monitors (insert|update), milestones (with a negative number|a list|of something else)',
      'context_monitors (insert|update), (boundary_at|sampled_at) *',
      'context_monitors (insert|update), boundary_key (empty|blank|another)',
      'context_monitors (delete|truncate)',
      'context_signals (insert|update), (text another|queued_at *)',
      'context_signals update, id of (nobody|another conversation)',
      'context_signals (delete|truncate)',
    ],
  'Who is told may be of another conversation than the session it is about.': [
    'context_signals (insert|update), recipient_session_id of (nobody|another conversation)',
  ],
  'A lease is a promise for some seconds and no record; the digest in it is compared when it is renewed.': [
    'session_leases (insert|update), holder the digest of another token',
    'session_leases (insert|update), expires_at *',
    'session_leases insert, processes a list',
    'session_leases (delete|truncate)',
  ],
}
