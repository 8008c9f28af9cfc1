import { COMMAND, chain } from './chain.ts'
import { statement } from './statement.ts'

const GUARD = { session: 'uuid', holder: 'text', version: 'bigint' } as const
/** The digest of a token, written out: `token_digest` is a function, and calling it costs. */
const HOLDS = `holder = rtrim(encode(sha256(convert_to(:holder, 'UTF8')), 'base64'), '=')`
const AT_VERSION = `conversation_id = :conversation and id = :session and version = :version and ${HOLDS}`
const WINDOW = 'window_start, window_end, window_user, window_assistant, window_tool, window_system, window_usage'
const SNAPSHOT = `conversation_id, id, session_id, type, ${WINDOW}, captured_at`

/** Each write as one statement: the version guard first, everything else from the row it found. */
export const statementsIn = (schema: string) => ({
  recordTurn: statement(
    `${schema}_record_turn`,
    {
      ...COMMAND,
      ...GUARD,
      turn: 'uuid',
      first: 'bigint',
      last: 'bigint',
      usage: 'jsonb',
      at: 'timestamptz',
      message_ids: 'uuid[]',
      roles: 'text[]',
      origins: 'text[]',
      texts: 'text[]',
      call_ids: 'text[]',
      tools: 'text[]',
      body: 'text',
      salt: 'text',
      monitor_version: 'bigint',
    },
    `with guard as (
      update ${schema}.agent_sessions set
        version = version + 1, turns = turns + 1, last_turn_id = :turn, next_sequence = :last + 1,
        last_sequence = :last, exchange_start = :first, window_start = coalesce(window_start, :first),
        window_end = :last, window_user = window_user + 1, window_assistant = window_assistant + 1,
        window_usage = :usage
      where ${AT_VERSION} returning turns),
    turn as (
      insert into ${schema}.turns
      select :conversation, :turn, :session, turns, :first, :last, :usage, :at from guard),
    message as (
      insert into ${schema}.messages
      select :conversation, :first + m.n - 1, m.id, :session, :turn, m.role, m.origin, m.text, :at
      from guard, unnest(:message_ids, :roles, :origins, :texts) with ordinality as m (id, role, origin, text, n)),
    call as (
      insert into ${schema}.tool_calls
      select :conversation, :last, c.n, c.id, c.tool, :session, :turn
      from guard, unnest(:call_ids, :tools) with ordinality as c (id, tool, n)),
    monitor as (
      update ${schema}.context_monitors m set
        version = m.version + 1, reading = :usage, is_compacting = false, awaits_reading = false
      from guard where m.conversation_id = :conversation and m.session_id = :session and m.version = :monitor_version),
    ${chain(schema, 'guard', [':body'], 1)}
    select turns from guard`,
  ),
  snapshot: statement(
    `${schema}_snapshot`,
    { ...COMMAND, ...GUARD, snapshot: 'uuid', at: 'timestamptz', body: 'text' },
    `with guard as (
      select * from ${schema}.agent_sessions where ${AT_VERSION} for share),
    snapshot as (
      insert into ${schema}.context_snapshots (${SNAPSHOT})
      select :conversation, :snapshot, :session, 'on_demand', ${WINDOW}, :at from guard),
    ${chain(schema, 'guard', [':body'])}
    select (
      select json_agg(json_build_array(c.call_id, c.tool_name, m.id, c.sequence_number)
        order by c.sequence_number, c.position)
      from ${schema}.tool_calls c join ${schema}.messages m using (conversation_id, sequence_number)
      where c.conversation_id = :conversation and c.session_id = :session
        and c.sequence_number between guard.window_start and guard.window_end)::text as calls
    from guard`,
  ),
  initiate: statement(
    `${schema}_initiate`,
    {
      ...COMMAND,
      ...GUARD,
      handoff: 'uuid',
      target: 'text',
      reason: 'text',
      snapshot: 'uuid',
      at: 'timestamptz',
      call_ids: 'text[]',
      initiated: 'text',
      held: 'text',
      captured: 'text',
      salt: 'text',
    },
    `with guard as (
      update ${schema}.agent_sessions set version = version + 1, state = 'paused', held_by = :handoff
      where ${AT_VERSION} returning *),
    handoff as (
      insert into ${schema}.handoffs (
        conversation_id, id, kind, source_session_id, source_agent, target_agent, reason, prior_turn_id, flags,
        initiated_at, version, status)
      select :conversation, :handoff, 'agent_transfer', :session, agent_name, :target, :reason, last_turn_id, '{}',
        :at, 1, 'initiated' from guard),
    call as (
      insert into ${schema}.handoff_tool_calls
      select :conversation, :handoff, c.n, c.id, last_sequence
      from guard, unnest(:call_ids) with ordinality as c (id, n)),
    snapshot as (
      insert into ${schema}.context_snapshots (${SNAPSHOT})
      select :conversation, :snapshot, :session, 'handoff_initiated', ${WINDOW}, :at from guard),
    ${chain(schema, 'guard', [':initiated', ':held', ':captured'], 1)}
    select version from guard`,
  ),
  accept: statement(
    `${schema}_accept`,
    {
      ...COMMAND,
      handoff: 'uuid',
      version: 'bigint',
      claimant: 'text',
      at: 'timestamptz',
      deadline: 'timestamptz',
      body: 'text',
    },
    `with guard as (
      update ${schema}.handoffs set
        version = version + 1, status = 'accepted', claimant = :claimant, accepted_at = :at, claim_deadline = :deadline
      where conversation_id = :conversation and id = :handoff and version = :version returning version),
    ${chain(schema, 'guard', [':body'])}
    select version from guard`,
  ),
  complete: statement(
    `${schema}_complete`,
    {
      ...COMMAND,
      ...GUARD,
      handoff: 'uuid',
      handoff_version: 'bigint',
      target: 'uuid',
      target_holder: 'text',
      epoch: 'integer',
      agent: 'text',
      backend: 'text',
      first: 'bigint',
      usage: 'jsonb',
      message: 'uuid',
      text: 'text',
      snapshot: 'uuid',
      at: 'timestamptz',
      handed_off: 'text',
      started: 'text',
      captured: 'text',
      completed: 'text',
      salt: 'text',
      milestones: 'jsonb',
      monitor_version: 'bigint',
    },
    `with source as (
      update ${schema}.agent_sessions set
        version = version + 1, state = 'handed_off', held_by = null, terminated_by_handoff = :handoff,
        end_sequence = last_sequence, ended_at = :at
      where ${AT_VERSION} returning version),
    guard as (
      update ${schema}.handoffs set
        version = handoffs.version + 1, status = 'completed', target_session_id = :target, ended_at = :at
      from source where conversation_id = :conversation and id = :handoff and handoffs.version = :handoff_version
      returning handoffs.version),
    target as (
      insert into ${schema}.agent_sessions (
        conversation_id, id, epoch, agent_name, backend, initiated_by_handoff, start_sequence, started_at, holder,
        version, turns, next_sequence, last_sequence, exchange_start, ${WINDOW}, state)
      select :conversation, :target, :epoch, :agent, :backend, :handoff, :first, :at, :target_holder,
        1, 0, :first + 1, :first, :first, :first, :first, 1, 0, 0, 0, :usage, 'active' from guard),
    closed as (
      update ${schema}.context_monitors m set version = m.version + 1, is_enabled = false
      from guard where m.conversation_id = :conversation and m.session_id = :session and m.version = :monitor_version),
    monitor as (
      insert into ${schema}.context_monitors
      select :conversation, :target, 1, true, 'advise', :milestones, '{}', :usage, false, false, 1, 0, null, null, null
      from guard),
    message as (
      insert into ${schema}.messages
      select :conversation, :first, :message, :target, null, 'user', 'batonpass', :text, :at from guard),
    snapshot as (
      insert into ${schema}.context_snapshots (${SNAPSHOT})
      select :conversation, :snapshot, :target, 'session_start', :first, :first, 1, 0, 0, 0, :usage, :at from guard),
    ${chain(schema, 'guard', [':handed_off', ':started', ':captured', ':completed'], 2)}
    select version from guard`,
  ),
  activeSession: statement(
    `${schema}_active_session`,
    { conversation: 'uuid' },
    `select * from ${schema}.agent_sessions where conversation_id = :conversation and state = 'active'`,
  ),
  lineage: statement(
    `${schema}_lineage`,
    { conversation: 'uuid' },
    `with recursive line as (
      select id from ${schema}.conversations where id = :conversation
      union all
      select c.id from ${schema}.conversations c join line on c.parent_id = line.id)
    select json_build_object(
      'conversations', (
        select json_agg(c) from ${schema}.conversations c where id in (select id from line)),
      'sessions', (
        select json_agg(s order by s.epoch) from ${schema}.agent_sessions s
        where conversation_id in (select id from line)),
      'handoffs', (
        select json_agg(h order by h.initiated_at, h.id) from ${schema}.handoffs h
        where conversation_id in (select id from line)),
      'tool_calls', (
        select json_agg(json_build_array(n.handoff_id, n.call_id, c.tool_name, m.id, c.sequence_number)
          order by n.handoff_id, n.ordinal)
        from ${schema}.handoff_tool_calls n
        join ${schema}.tool_calls c using (conversation_id, call_id, sequence_number)
        join ${schema}.messages m using (conversation_id, sequence_number)
        where n.conversation_id in (select id from line)))::text as lineage`,
  ),
})

export type Statements = ReturnType<typeof statementsIn>
