import type pg from 'pg'

/** How much history there is: enough that reading all of it would show. */
export const CONVERSATIONS = 5_000
export const HANDOFFS = 50_000

/** Each agent is on one side of a fiftieth of the handoffs. */
export const AGENTS = 50

/** Fills a database by SQL alone: two sessions and one turn per conversation, and ten handoffs each, a minute apart. */
export const fillHistory = async (pool: pg.Pool): Promise<void> => {
  const client = await pool.connect()
  try {
    // Ten handoffs of one session are more than may be; what reads them does not mind.
    await client.query('set session_replication_role = replica')
    for (const statement of STATEMENTS) await client.query(statement)
    await client.query('reset session_replication_role')
  } finally {
    client.release()
  }
}

const uuid = (kind: string, number: string): string =>
  `('${kind}000000-0000-7000-8000-' || lpad(${number}::text, 12, '0'))::uuid`

const STATEMENTS: readonly string[] = [
  `insert into batonpass.conversations (id, subject, original_task, parent_id, restart_budget, opened_at)
   select ${uuid('c0', 'n')}, 'tenant-' || n % 200, 'Task ' || n, case when n % 2 = 1 then ${uuid('c0', '(n - 1)')} end,
     '{"maxRestarts": 3, "whenExhausted": "stop"}', '2026-01-01Z'::timestamptz + n * interval '1 hour'
   from generate_series(0, ${CONVERSATIONS - 1}) n`,
  `insert into batonpass.agent_sessions (conversation_id, id, epoch, agent_name, backend, start_sequence, started_at,
     holder, version, turns, next_sequence, window_user, window_assistant, window_tool, window_system, window_usage,
     state, ended_at)
   select ${uuid('c0', 'n')}, ${uuid('50', '(n * 100 + e)')}, e, 'agent-' || (n + e) % ${AGENTS}, 'scripted', 1,
     '2026-01-01Z'::timestamptz + (n * 100 + e) * interval '1 minute', lpad(n::text, 43, '0'), 1, 1, 1, 0, 0, 0, 0,
     '{"state": "unknown"}', case when e = 2 and n % 50 = 0 then 'active' else 'completed' end,
     case when e = 2 and n % 50 = 0 then null else '2026-06-01Z'::timestamptz end
   from generate_series(0, ${CONVERSATIONS - 1}) n, generate_series(1, 2) e`,
  `insert into batonpass.turns
     (conversation_id, id, session_id, number, start_sequence, end_sequence, usage, recorded_at)
   select conversation_id, id, id, 1, 1, 1, '{"state": "unknown"}', started_at
   from batonpass.agent_sessions where epoch = 1`,
  `insert into batonpass.messages
     (conversation_id, sequence_number, id, session_id, turn_id, role, origin, text, recorded_at)
   select conversation_id, 1, id, id, id, 'assistant', 'runtime', 'Done', started_at
   from batonpass.agent_sessions where epoch = 1`,
  `insert into batonpass.handoffs (conversation_id, id, kind, source_session_id, source_agent, target_agent, reason,
     prior_turn_id, flags, initiated_at, kept_at, version, status, claimant, accepted_at, claim_deadline, target_session_id,
     end_reason, ended_at)
   select ${uuid('c0', 'c')}, ${uuid('d0', 'n')}, case when n % 3 = 0 then 'context_restart' else 'agent_transfer' end,
     ${uuid('50', '(c * 100 + 1)')}, 'agent-' || c % ${AGENTS},
     'agent-' || case when n % 3 = 0 then c % ${AGENTS} else (c + 1) % ${AGENTS} end,
     'The window is nearly full at step ' || n || case when n % 5000 = 7 then ' because of rarity' else '' end
       || case when n % 26 = 0 then ' sometimes' when n % 20 = 1 then ' often' else '' end,
     ${uuid('50', '(c * 100 + 1)')}, '{}', '2026-01-01Z'::timestamptz + n * interval '1 minute', '2026-01-01Z'::timestamptz + n * interval '1 minute', 1, status,
     case when status <> 'initiated' then 'worker' end,
     case when status <> 'initiated' then '2026-03-01Z'::timestamptz end,
     case when status <> 'initiated' then '2026-03-02Z'::timestamptz end,
     case when status = 'completed' then ${uuid('50', '(c * 100 + 2)')} end,
     case when status in ('cancelled', 'failed') then 'Not needed' end,
     case when status in ('completed', 'cancelled', 'failed') then '2026-04-01Z'::timestamptz end
   from (
     select n, n % ${CONVERSATIONS} as c, case
       when n >= ${HANDOFFS - 500} then (array['initiated', 'accepted'])[n % 2 + 1]
       else (array['completed', 'completed', 'completed', 'cancelled', 'failed'])[n % 5 + 1] end as status
     from generate_series(0, ${HANDOFFS - 1}) n) made`,
  'vacuum analyze',
]
