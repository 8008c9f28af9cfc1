import { afterAll, describe, expect, it } from 'vitest'
import { attempt, copyOf, lawfulDatabase, nobody, type Statement } from './raw-rows.ts'

const AT = '2026-01-01T00:00:00Z'
const LATER = '2026-01-01T00:01:00Z'

/** SQLSTATEs by name. */
const [NULL, FOREIGN, UNIQUE, CHECK, APPEND_ONLY] = ['23502', '23503', '23505', '23514', 'BP002'] as const

const { client, open, working, past, paused } = await lawfulDatabase()
afterAll(() => client.end())

const conversation = open.handoff.conversationId
const { id: source } = open.source.session
const [call] = open.handoff.triggeringToolCalls
const [foreignCall] = working.turns[0]?.toolCalls ?? []
const foreignTurn = working.turns[0]?.id
if (call === undefined || foreignCall === undefined || foreignTurn === undefined) throw new Error('No tool calls')

const OPEN = `original.id = '${open.handoff.id}'`
const cancelled = { id: nobody(), status: 'cancelled', end_reason: 'Nobody came', ended_at: AT }
const claim = { claimant: 'worker-1', accepted_at: AT, claim_deadline: LATER }
const completed = { id: nobody(), status: 'completed', ...claim, target_session_id: nobody(), ended_at: AT }
const handoff = (but: object): Statement => copyOf('handoffs', OPEN, { ...cancelled, ...but })

const WORKING = `original.id = '${working.session.id}'`
const next = { id: nobody(), epoch: 2 }
/** A session that has not spoken yet: it may be copied without its turns. */
const fresh = {
  ...next,
  ...{ turns: 0, last_turn_id: null, last_sequence: null, exchange_start: null, window_start: null, window_end: null },
  ...{ window_user: 0, window_assistant: 0, window_tool: 0, window_system: 0 },
}
const session = (but: object, where = WORKING): Statement => copyOf('agent_sessions', where, { ...next, ...but })
const change = (id: string, columns: string): Statement => [
  `update batonpass.agent_sessions set ${columns} where id = $1`,
  id,
]

/** Claims the open handoff, and prepares a successor for it. */
const prepare = (columns: string): Statement => [
  `update batonpass.handoffs set status = 'accepted', claimant = 'worker-1', accepted_at = $2, claim_deadline = $3,
     ${columns} where id = $1`,
  open.handoff.id,
  AT,
  LATER,
]
const lease = (but: object): Statement => [
  'insert into batonpass.session_leases select * from jsonb_populate_record(null::batonpass.session_leases, $1::jsonb)',
  JSON.stringify({
    conversation_id: conversation,
    session_id: source,
    holder: 'A'.repeat(43),
    expires_at: AT,
    processes: [],
    ...but,
  }),
]

const reference = (but: object): Statement =>
  copyOf('handoff_tool_calls', `original.handoff_id = '${open.handoff.id}' and original.ordinal = 1`, {
    ordinal: 99,
    ...but,
  })
const FIRST = `original.conversation_id = '${conversation}' and original.sequence_number = 1`
const message = (but: object): Statement => copyOf('messages', FIRST, { id: nobody(), sequence_number: 99, ...but })
const report = (but: object): Statement =>
  message({ role: 'user', origin: 'batonpass', reports_handoff_id: open.handoff.id, ...but })
const TURN = `original.id = '${open.handoff.priorTurnId}'`
const turn = (but: object): Statement => copyOf('turns', TURN, { id: nobody(), number: 99, ...but })
const CALL = `original.conversation_id = '${conversation}' and original.call_id = '${call.callId}'`
const toolCall = (but: object): Statement => copyOf('tool_calls', CALL, { position: 99, call_id: 'another', ...but })
const SNAPSHOT = `original.session_id = '${source}' and original.type = 'handoff_initiated'`
const lookBack = (but: object): Statement => [
  'insert into batonpass.look_backs select * from jsonb_populate_record(null::batonpass.look_backs, $1::jsonb)',
  JSON.stringify({
    ...{ conversation_id: conversation, id: nobody(), session_id: source, asked_by: 'words', text: 'flaky' },
    ...{ found: 1, asked_at: AT, ...but },
  }),
]
const snapshot = (but: object): Statement => copyOf('context_snapshots', SNAPSHOT, { id: nobody(), ...but })

describe('the database accepts', () => {
  it.each<[string, ...Statement[]]>([
    ['a handoff that was cancelled', handoff({})],
    ['one that was claimed before it was cancelled', handoff(claim)],
    ['a restart with the same agent', handoff({ kind: 'context_restart', target_agent: open.handoff.sourceAgent })],
    ['a known flag', handoff({ flags: ['minimal_continuation'] })],
    [
      'a handoff whose successor is prepared',
      prepare("continuation = 'Go on', prepared_session_id = gen_random_uuid()"),
    ],
    ['a lease', lease({})],
    ['a reference to a tool call', reference({})],
    ['a session that ended', session({ ...fresh, state: 'completed', ended_at: AT })],
    ['a paused session', session({ ...fresh, state: 'paused' })],
    ['a message', message({})],
    ['a message that reports an outcome', report({})],
    ['a turn', turn({})],
    ['a tool call', toolCall({})],
    ['a snapshot', snapshot({})],
  ])('%s', async (_, ...statements) => {
    expect(await attempt(client, statements)).toBe('accepted')
  })
})

describe.each<[string, readonly (readonly [string, string, string, ...Statement[]])[]]>([
  [
    'one baton per conversation (rule 1)',
    [
      ['two active sessions', UNIQUE, 'agent_sessions_one_baton', session({})],
      [
        'an active session while another is held',
        UNIQUE,
        'agent_sessions_one_baton',
        session({ state: 'active', held_by: null }, `original.id = '${source}'`),
      ],
      [
        'a paused session made active beside an active one',
        UNIQUE,
        'agent_sessions_one_baton',
        session({ state: 'active' }, `original.id = '${paused.session.id}'`),
        change(paused.session.id, `state = 'active'`),
      ],
      [
        'two open handoffs of one conversation',
        UNIQUE,
        'handoffs_one_open',
        copyOf('handoffs', OPEN, { id: nobody() }),
      ],
      [
        'an open handoff beside a claimed one',
        UNIQUE,
        'handoffs_one_open',
        copyOf('handoffs', OPEN, { id: nobody(), status: 'accepted', ...claim }),
      ],
    ],
  ],
  [
    'a session knows what its state knows (rules 2, 4 and 5)',
    [
      [
        'held while active',
        CHECK,
        'agent_sessions_held_only_while_paused',
        change(working.session.id, `held_by = '${open.handoff.id}'`),
      ],
      [
        'ended while active',
        CHECK,
        'agent_sessions_end_only_when_ended',
        change(working.session.id, `ended_at = '${AT}'`),
      ],
      [
        'completed without an end',
        CHECK,
        'agent_sessions_end_only_when_ended',
        change(working.session.id, `state = 'completed'`),
      ],
      [
        'active with an end sequence left over',
        CHECK,
        'agent_sessions_ends_with_its_last_message',
        change(working.session.id, 'end_sequence = 2'),
      ],
      [
        'active with a terminating handoff left over',
        CHECK,
        'agent_sessions_handed_off_names_handoff',
        change(source, `terminated_by_handoff = held_by`),
      ],
      [
        'handed off to nobody',
        CHECK,
        'agent_sessions_handed_off_names_handoff',
        change(working.session.id, `state = 'handed_off', ended_at = '${AT}', end_sequence = last_sequence`),
      ],
      [
        'failed without a reason',
        CHECK,
        'agent_sessions_failed_says_why',
        change(working.session.id, `state = 'failed', ended_at = '${AT}', end_sequence = last_sequence`),
      ],
      [
        'active with the reason of a failure left over',
        CHECK,
        'agent_sessions_failed_says_why',
        change(working.session.id, `end_reason = 'It broke'`),
      ],
      [
        'held by no handoff there is',
        CHECK,
        'agent_sessions_held_by_open_handoff',
        change(source, `held_by = '${nobody()}'`),
      ],
      [
        'held by a handoff of another conversation',
        CHECK,
        'agent_sessions_held_by_open_handoff',
        change(paused.session.id, `held_by = '${open.handoff.id}'`),
      ],
      [
        'terminated by a handoff of another conversation',
        CHECK,
        'agent_sessions_terminated_by_its_handoff',
        session({ ...fresh, state: 'handed_off', ended_at: AT, terminated_by_handoff: open.handoff.id }),
      ],
    ],
  ],
  [
    'a handoff knows what its status knows (rules 3, 4 and 5)',
    [
      [
        'accepted by nobody',
        CHECK,
        'handoffs_claim_when_accepted',
        copyOf('handoffs', OPEN, { id: nobody(), status: 'accepted' }),
      ],
      [
        'claimed and not accepted',
        CHECK,
        'handoffs_claim_when_accepted',
        copyOf('handoffs', OPEN, { id: nobody(), ...claim }),
      ],
      ['claimed without a deadline', CHECK, 'handoffs_claim_whole', handoff({ ...claim, claim_deadline: null })],
      [
        'completed without a target',
        CHECK,
        'handoffs_target_when_completed',
        handoff({ ...completed, end_reason: null, target_session_id: null }),
      ],
      [
        'prepared for no session',
        CHECK,
        'handoffs_prepared_while_accepted',
        prepare("continuation = 'Go on', prepared_session_id = null"),
      ],
      [
        'prepared without a continuation',
        CHECK,
        'handoffs_prepared_while_accepted',
        prepare('prepared_session_id = gen_random_uuid()'),
      ],
      [
        'cancelled, and still prepared',
        CHECK,
        'handoffs_prepared_while_accepted',
        handoff({ ...claim, continuation: 'Go on', prepared_session_id: nobody() }),
      ],
      ['cancelled with a target', CHECK, 'handoffs_target_when_completed', handoff({ target_session_id: nobody() })],
      ['cancelled without a reason', CHECK, 'handoffs_end_says_why', handoff({ end_reason: null })],
      ['cancelled at no time', CHECK, 'handoffs_ended_when_over', handoff({ ended_at: null })],
      ['ended while open', CHECK, 'handoffs_ended_when_over', copyOf('handoffs', OPEN, { id: nobody(), ended_at: AT })],
    ],
  ],
  [
    'a handoff names what led to it (rule 6)',
    [
      ['no prior turn', NULL, 'prior_turn_id', handoff({ prior_turn_id: null })],
      ['a prior turn that does not exist', FOREIGN, 'handoffs_prior_turn_exists', handoff({ prior_turn_id: nobody() })],
      [
        'a prior turn of another conversation',
        FOREIGN,
        'handoffs_prior_turn_exists',
        handoff({ prior_turn_id: foreignTurn }),
      ],
      [
        'a prior turn taken away later',
        NULL,
        'prior_turn_id',
        [`update batonpass.handoffs set prior_turn_id = null where id = $1`, open.handoff.id],
      ],
      [
        'a source of another conversation',
        FOREIGN,
        'handoffs_source_exists',
        handoff({ source_session_id: working.session.id }),
      ],
      ['a tool call that does not exist', FOREIGN, 'handoff_tool_calls_call_exists', reference({ call_id: 'none' })],
      [
        'a tool call of another conversation',
        FOREIGN,
        'handoff_tool_calls_call_exists',
        reference({ call_id: foreignCall.callId, sequence_number: foreignCall.sequenceNumber }),
      ],
      ['a tool call of another message', FOREIGN, 'handoff_tool_calls_call_exists', reference({ sequence_number: 1 })],
      [
        'a tool call for no handoff there is',
        FOREIGN,
        'handoff_tool_calls_handoff_exists',
        reference({ handoff_id: nobody() }),
      ],
      ['two tool calls in one place', UNIQUE, 'handoff_tool_calls_pkey', reference({ ordinal: 1 })],
      [
        'a turn deleted after it led to a handoff',
        APPEND_ONLY,
        'turns_never_deleted',
        ['delete from batonpass.turns where id = $1', open.handoff.priorTurnId],
      ],
      [
        'a tool call deleted after it led to a handoff',
        APPEND_ONLY,
        'tool_calls_never_deleted',
        ['delete from batonpass.tool_calls where conversation_id = $1 and call_id = $2', conversation, call.callId],
      ],
      [
        'a tool call renamed after it led to a handoff',
        APPEND_ONLY,
        'tool_calls_stay',
        [
          `update batonpass.tool_calls set call_id = 'x' where conversation_id = $1 and call_id = $2`,
          conversation,
          call.callId,
        ],
      ],
    ],
  ],
  [
    'a transfer changes the agent (rule 7)',
    [
      ...['', '   ', '\t\n', '\r\f\v', '\u00a0', '\u2003\ufeff'].map(
        (blank) =>
          [
            `a target named ${JSON.stringify(blank)}`,
            CHECK,
            'trimmed',
            handoff({ kind: 'context_restart', target_agent: blank }),
          ] as const,
      ),
      ['the same agent', CHECK, 'handoffs_transfer_changes_agent', handoff({ target_agent: open.handoff.sourceAgent })],
      ...[' ', '\t', '\n ', '\u00a0'].map(
        (blank) =>
          [
            `the same agent with ${JSON.stringify(blank)} around it`,
            CHECK,
            'trimmed',
            handoff({ target_agent: `${blank}${open.handoff.sourceAgent}${blank}` }),
          ] as const,
      ),
    ],
  ],
  [
    'a thread opens a conversation, at once (rule 8)',
    [
      [
        'a thread that waits',
        CHECK,
        'handoffs_threads_never_open',
        copyOf('handoffs', OPEN, { id: nobody(), kind: 'thread' }),
      ],
      [
        'a thread without a conversation',
        CHECK,
        'handoffs_target_conversation_for_threads',
        handoff({ ...completed, end_reason: null, kind: 'thread' }),
      ],
      [
        'a conversation without a thread',
        CHECK,
        'handoffs_target_conversation_for_threads',
        handoff({ target_conversation_id: nobody() }),
      ],
      [
        'a transfer whose outcome somebody waits for',
        CHECK,
        'handoffs_only_threads_delegated',
        handoff({ flags: ['delegated'] }),
      ],
    ],
  ],
  [
    'the outcome of a thread is reported once, by us',
    [
      [
        'by a person',
        CHECK,
        'messages_report_is_ours',
        message({ origin: 'person', reports_handoff_id: open.handoff.id }),
      ],
      ['of nobody', FOREIGN, 'messages_report_exists', report({ reports_handoff_id: nobody() })],
      ['of another conversation', FOREIGN, 'messages_report_exists', report({ reports_handoff_id: past.handoff.id })],
      ['twice', UNIQUE, 'messages_one_report', report({}), report({ id: nobody(), sequence_number: 100 })],
      [
        'turned into that of another one later',
        APPEND_ONLY,
        'messages_stay',
        report({}),
        ['update batonpass.messages set reports_handoff_id = null where reports_handoff_id = $1', open.handoff.id],
      ],
    ],
  ],
  [
    'words are known ones',
    [
      ['a state', CHECK, 'agent_sessions_state_known', session({ state: 'sleeping' })],
      ['a state in another case', CHECK, 'agent_sessions_state_known', session({ state: 'Active' })],
      ['a status', CHECK, 'handoffs_status_known', copyOf('handoffs', OPEN, { id: nobody(), status: 'lost' })],
      ['a kind', CHECK, 'handoffs_kind_known', handoff({ kind: 'gossip' })],
      ['a flag', CHECK, 'handoffs_flags_known', handoff({ flags: ['minimal_continuation', 'nonsense'] })],
      ['a role', CHECK, 'messages_role_known', message({ role: 'narrator' })],
      ['a way to look back', CHECK, 'look_backs_way_known', lookBack({ asked_by: 'mood' })],
      ['a type of snapshot', CHECK, 'context_snapshots_type_known', snapshot({ type: 'souvenir' })],
    ],
  ],
  [
    'places are taken once',
    [
      [
        'an epoch',
        UNIQUE,
        'agent_sessions_epoch_once',
        session({ ...fresh, epoch: 1, state: 'completed', ended_at: AT }),
      ],
      ['a sequence number', UNIQUE, 'messages_pkey', message({ sequence_number: 1 })],
      ['a turn number', UNIQUE, 'turns_number_once', turn({ number: 1 })],
      [
        'an external key',
        UNIQUE,
        'conversations_external_key_once',
        copyOf('conversations', `original.external_key = 'job-1'`, { id: nobody() }),
      ],
      ['a call in a message', UNIQUE, 'tool_calls_once_per_message', toolCall({ call_id: call.callId })],
      ['a command', UNIQUE, 'commands_pkey', copyOf('commands', 'true', {})],
      ['a place in the audit log', UNIQUE, 'audit_entries_pkey', copyOf('audit_entries', 'true', {})],
    ],
  ],
  [
    'what is recorded belongs together',
    [
      [
        'a session of no conversation',
        FOREIGN,
        'agent_sessions_conversation_exists',
        session({ conversation_id: nobody() }),
      ],
      ['a turn of a session elsewhere', FOREIGN, 'turns_session_exists', turn({ session_id: working.session.id })],
      [
        'a message of a session elsewhere',
        FOREIGN,
        'messages_session_exists',
        message({ session_id: working.session.id }),
      ],
      ['a message of a turn elsewhere', FOREIGN, 'messages_turn_exists', message({ turn_id: foreignTurn })],
      ['a tool call of no message', FOREIGN, 'tool_calls_message_exists', toolCall({ sequence_number: 99 })],
      [
        'a snapshot of a session elsewhere',
        FOREIGN,
        'context_snapshots_session_exists',
        snapshot({ session_id: working.session.id }),
      ],
      [
        'a look back of a session elsewhere',
        FOREIGN,
        'look_backs_session_exists',
        lookBack({ session_id: working.session.id }),
      ],
      ['fewer than none found', CHECK, 'look_backs_found_counted', lookBack({ found: -1 })],
      [
        'a lease of a session elsewhere',
        FOREIGN,
        'session_leases_session_exists',
        lease({ session_id: working.session.id }),
      ],
      ['a second lease of a session', UNIQUE, 'session_leases_pkey', lease({}), lease({})],
      [
        'a snapshot of zeros where there were messages',
        CHECK,
        'context_snapshots_counts_what_it_saw',
        snapshot({ window_user: 0, window_assistant: 0, window_tool: 0, window_system: 0 }),
      ],
      [
        'a thread of no conversation',
        FOREIGN,
        'conversations_parent_exists',
        copyOf('conversations', `original.external_key = 'job-1'`, {
          id: nobody(),
          external_key: null,
          parent_id: nobody(),
        }),
      ],
    ],
  ],
])('the database refuses, because %s:', (_, cases) => {
  for (const [title, code, name, ...statements] of cases) {
    it(`${title} (${code} ${name})`, async () => {
      const answer = await attempt(client, statements)
      expect(answer).toMatchObject(code === NULL ? { code, column: name } : { code, constraint: name })
    })
  }
})

describe('the audit log', () => {
  it.each<[string, Statement]>([
    ['changed', [`update batonpass.audit_entries set body = '{}'`]],
    ['changed to what it was', ['update batonpass.audit_entries set body = body']],
    ['deleted', ['delete from batonpass.audit_entries']],
    ['emptied', ['truncate batonpass.audit_entries']],
    [
      'replaced',
      [
        `insert into batonpass.audit_entries select * from batonpass.audit_entries limit 1
         on conflict on constraint audit_entries_pkey do update set body = '{}'`,
      ],
    ],
  ])('is never %s', async (_, statement) => {
    expect(await attempt(client, [statement])).toMatchObject({ code: APPEND_ONLY })
  })

  it('keeps its conversation', async () => {
    const heads = 'delete from batonpass.audit_heads where conversation_id = $1'
    expect(await attempt(client, [[heads, conversation]])).toMatchObject({ code: APPEND_ONLY })
    const conversations = 'delete from batonpass.conversations where id = $1'
    expect(await attempt(client, [[conversations, conversation]])).toMatchObject({ code: APPEND_ONLY })
  })
})
