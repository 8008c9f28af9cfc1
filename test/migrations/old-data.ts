/** A handoff that came to nothing, as rows. Texts are chosen so that each can be found again. */
export const OLD = {
  conversation: '0190a0a0-0000-7000-8000-000000000001',
  session: '0190a0a0-0000-7000-8000-000000000002',
  turn: '0190a0a0-0000-7000-8000-000000000003',
  handoff: '0190a0a0-0000-7000-8000-000000000004',
  snapshot: '0190a0a0-0000-7000-8000-000000000005',
  command: '0190a0a0-0000-7000-8000-000000000006',
  /** The token of its holder, which a process that lives has in its memory. */
  token: '0190a0a0-0000-7000-8000-000000000007',
} as const

const AT = '2026-01-01T00:00:00.000Z'
const METERED = '{"state": "metered", "promptTokens": 1000, "outputTokens": 50}'

const SESSION = `insert into batonpass.agent_sessions (
  conversation_id, id, epoch, agent_name, backend, start_sequence, started_at, holder, version, turns, next_sequence,
  window_user, window_assistant, window_tool, window_system, window_usage, state
) values (
  '${OLD.conversation}', '${OLD.session}', 1, 'claude-code', 'scripted', 1, '${AT}', '${OLD.token}', 1, 0, 1,
  0, 0, 0, 0, '{"state": "unknown"}', 'active')`

const TURN = [
  `insert into batonpass.turns (conversation_id, id, session_id, number, start_sequence, end_sequence, usage, recorded_at)
   values ('${OLD.conversation}', '${OLD.turn}', '${OLD.session}', 1, 1, 2, '${METERED}', '${AT}')`,
  `insert into batonpass.messages (conversation_id, sequence_number, id, session_id, turn_id, role, origin, text, recorded_at)
   values
     ('${OLD.conversation}', 1, '${OLD.handoff}', '${OLD.session}', '${OLD.turn}', 'user', 'person', 'Go on', '${AT}'),
     ('${OLD.conversation}', 2, '${OLD.snapshot}', '${OLD.session}', '${OLD.turn}', 'assistant', 'runtime', 'Done', '${AT}')`,
  `insert into batonpass.tool_calls (conversation_id, sequence_number, position, call_id, tool_name, session_id, turn_id)
   values ('${OLD.conversation}', 2, 1, 'call-1', 'read_file', '${OLD.session}', '${OLD.turn}')`,
  `update batonpass.agent_sessions set
     version = 2, turns = 1, last_turn_id = '${OLD.turn}', next_sequence = 3, last_sequence = 2, exchange_start = 1,
     window_start = 1, window_end = 2, window_user = 1, window_assistant = 1, window_usage = '${METERED}'`,
]

/** What can be stored once a change is there, by its number. */
export const ROWS: readonly (readonly [since: number, statements: readonly string[]])[] = [
  [
    1,
    [
      `insert into batonpass.conversations (id, external_key, original_task, restart_budget, opened_at)
       values ('${OLD.conversation}', 'job-1', 'An old task',
               '{"maxRestarts": 3, "whenExhausted": "stop"}', '${AT}')`,
    ],
  ],
  [1, [SESSION]],
  [1, TURN],
  [
    2,
    [
      `insert into batonpass.handoffs (
         conversation_id, id, kind, source_session_id, source_agent, target_agent, reason, prior_turn_id, flags,
         initiated_at, version, status, end_reason, ended_at
       ) values (
         '${OLD.conversation}', '${OLD.handoff}', 'agent_transfer', '${OLD.session}', 'claude-code', 'opus',
         'An old reason', '${OLD.turn}', '{}', '${AT}', 2, 'cancelled', 'Nobody came', '${AT}')`,
    ],
  ],
  [
    2,
    [
      `insert into batonpass.handoff_tool_calls (conversation_id, handoff_id, ordinal, call_id, sequence_number)
       values ('${OLD.conversation}', '${OLD.handoff}', 1, 'call-1', 2)`,
    ],
  ],
  [
    2,
    [
      `insert into batonpass.context_snapshots (
         conversation_id, id, session_id, type, window_start, window_end, window_user, window_assistant, window_tool,
         window_system, window_usage, captured_at
       ) values (
         '${OLD.conversation}', '${OLD.snapshot}', '${OLD.session}', 'on_demand', 1, 2, 1, 1, 0, 0, '${METERED}', '${AT}')`,
    ],
  ],
  [
    3,
    [
      `insert into batonpass.commands (id, conversation_id, digest, receipt)
       values ('${OLD.command}', '${OLD.conversation}', 'none', '{"holder": "${OLD.token}"}')`,
    ],
  ],
  [
    3,
    [
      `insert into batonpass.audit_heads (conversation_id, position, hash)
       values ('${OLD.conversation}', 0, sha256(uuid_send('${OLD.conversation}')))`,
    ],
  ],
  [
    4,
    [
      `insert into batonpass.context_monitors
       select conversation_id, id, 1, true, 'advise', '[]', '{}', '{"state": "unknown"}', false, false, 1, 0, null, null, null
       from batonpass.agent_sessions`,
    ],
  ],
]
