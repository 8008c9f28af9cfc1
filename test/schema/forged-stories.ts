import type { Forgery } from './forgeries.ts'
import type { World } from './forgery-world.ts'

/** Forgeries that take more than one wrong value: rows that are each lawful and contradict one another. */
export const forgedStories = ({ unleased: open, past, elsewhere, ended }: World): readonly Forgery[] => {
  const END = `ended_at = now(), end_reason = 'Forged'`
  const session = (id: string, columns: string): string =>
    `update batonpass.agent_sessions set ${columns} where id = '${id}' returning 1`
  const handoff = (id: string, columns: string): string =>
    `update batonpass.handoffs set ${columns} where id = '${id}' returning 1`
  const claimed = `claimant = 'me', accepted_at = '2026-01-01Z', claim_deadline = '2026-01-02Z'`
  const like = (table: string, where: string, change: string): string =>
    `insert into batonpass.${table} select copy.* from batonpass.${table} original,
       jsonb_populate_record(original, ${change}) copy where ${where} returning 1`
  const fields = (values: Readonly<Record<string, unknown>>): string => `'${JSON.stringify(values)}'::jsonb`
  const fresh = "jsonb_build_object('id', gen_random_uuid())"
  const ended_ = (table: string, columns: string): string =>
    `update batonpass.${table} original set ${columns} where ${ended[table]} returning 1`
  const notSpoken = fields({
    ...{ epoch: 50, state: 'paused', turns: 0, last_turn_id: null, last_sequence: null, exchange_start: null },
    ...{ window_start: null, window_end: null, window_user: 0, window_assistant: 0, window_tool: 0, window_system: 0 },
  })
  const PAST = `original.id = '${past.handoff}'`
  const stories: Readonly<Record<string, readonly string[]>> = {
    'a source let go while its handoff is open': [session(open.session, `state = 'active', held_by = null`)],
    'a source paused by hand while its handoff is open': [session(open.session, 'held_by = null')],
    'a handoff cancelled while it holds its source': [handoff(open.handoff, `status = 'cancelled', ${END}`)],
    'a handoff failed while it holds its source': [handoff(open.handoff, `status = 'failed', ${END}`)],
    'an open handoff whose source works': [
      like(
        'handoffs',
        PAST,
        `${fresh} || ${fields({ source_session_id: past.target, status: 'initiated', claimant: null, accepted_at: null, claim_deadline: null, target_session_id: null, ended_at: null })}`,
      ),
    ],
    'a second open handoff of a conversation': [like('handoffs', `original.id = '${open.handoff}'`, fresh)],
    'a session held by a handoff of another session': [
      session(past.target, `state = 'paused', held_by = '${past.handoff}'`),
    ],
    'a session held by a handoff of another conversation': [
      session(past.target, `state = 'paused', held_by = '${open.handoff}'`),
    ],
    'a handoff completed into its own source': [
      session(
        open.session,
        `state = 'handed_off', held_by = null, terminated_by_handoff = '${open.handoff}', ended_at = now(), end_sequence = last_sequence`,
      ),
      handoff(
        open.handoff,
        `status = 'completed', ${claimed}, target_session_id = '${open.session}', ended_at = now()`,
      ),
    ],
    'a handoff completed into a session of another conversation': [
      session(
        open.session,
        `state = 'handed_off', held_by = null, terminated_by_handoff = '${open.handoff}', ended_at = now(), end_sequence = last_sequence`,
      ),
      handoff(open.handoff, `status = 'completed', ${claimed}, target_session_id = '${past.target}', ended_at = now()`),
    ],
    'a handoff completed into nobody': [
      session(
        open.session,
        `state = 'handed_off', held_by = null, terminated_by_handoff = '${open.handoff}', ended_at = now(), end_sequence = last_sequence`,
      ),
      handoff(
        open.handoff,
        `status = 'completed', ${claimed}, target_session_id = gen_random_uuid(), ended_at = now()`,
      ),
    ],
    'a session handed off by a handoff that is open': [
      session(
        open.session,
        `state = 'handed_off', held_by = null, terminated_by_handoff = '${open.handoff}', ended_at = now(), end_sequence = last_sequence`,
      ),
    ],
    'a second session initiated by a handoff': [
      like('agent_sessions', `original.id = '${past.target}'`, `${fresh} || ${notSpoken}`),
    ],
    'a session initiated by an open handoff': [
      like(
        'agent_sessions',
        `original.id = '${open.session}'`,
        `${fresh} || ${notSpoken} || ${fields({ held_by: null, initiated_by_handoff: open.handoff })}`,
      ),
    ],
    'a thread into a conversation that is no child': [
      like('handoffs', `original.kind = 'thread'`, `${fresh} || ${fields({ target_conversation_id: elsewhere })}`),
    ],
    'a thread into the conversation it comes from': [
      like(
        'handoffs',
        `original.kind = 'thread'`,
        `${fresh} || jsonb_build_object('target_conversation_id', original.conversation_id)`,
      ),
    ],
    'a second thread into the same child': [like('handoffs', `original.kind = 'thread'`, fresh)],
    'a handoff that says another source agent': [
      like('handoffs', `original.status = 'cancelled'`, `${fresh} || ${fields({ source_agent: 'somebody' })}`),
    ],
    'an ended session that works again': [
      ended_('agent_sessions', `state = 'active', ended_at = null, end_reason = null, end_sequence = null`),
    ],
    'an ended session that ended otherwise': [ended_('agent_sessions', `state = 'completed', end_reason = null`)],
    'an ended handoff that is open again': [
      ended_('handoffs', `status = 'accepted', end_reason = null, ended_at = null`),
    ],
    'an ended handoff that ended otherwise': [ended_('handoffs', `status = 'failed'`)],
    'a claim that ends before it begins': [
      handoff(
        open.handoff,
        `status = 'accepted', claimant = 'me', accepted_at = '2026-01-02Z', claim_deadline = '2026-01-01Z'`,
      ),
    ],
    'a message in a turn of another session': [
      `insert into batonpass.messages select conversation_id, 99, gen_random_uuid(), '${past.source}',
         (select id from batonpass.turns where session_id = '${past.target}'), role, origin, text, recorded_at
       from batonpass.messages where session_id = '${past.target}' limit 1 returning 1`,
    ],
    'a tool call of a message of another session': [
      `insert into batonpass.tool_calls select conversation_id, sequence_number, 99, 'forged', tool_name, '${past.source}', turn_id
       from batonpass.tool_calls where session_id = '${past.target}' limit 1 returning 1`,
    ],
    'a tool call of a message of another turn': [
      `insert into batonpass.tool_calls select conversation_id, sequence_number, 99, 'forged', tool_name, session_id,
         (select id from batonpass.turns where session_id = '${past.source}')
       from batonpass.tool_calls where session_id = '${past.target}' limit 1 returning 1`,
    ],
    'a last turn of another session': [
      session(past.target, `last_turn_id = (select id from batonpass.turns where session_id = '${past.source}')`),
    ],
    'a turn that ends before it begins': [
      like(
        'turns',
        `original.session_id = '${past.target}'`,
        `${fresh} || ${fields({ number: 2, start_sequence: 9, end_sequence: 8 })}`,
      ),
    ],
    'a window that ends before it begins': [
      session(past.target, 'window_start = window_end, window_end = window_start'),
    ],
    'a snapshot that ends before it begins': [
      like(
        'context_snapshots',
        `original.session_id = '${past.source}' and original.window_end > original.window_start`,
        `${fresh} || jsonb_build_object('window_start', original.window_end, 'window_end', original.window_start)`,
      ),
    ],
    'a text of an ended handoff rewritten': [ended_('handoffs', `reason = 'Something else'`)],
    'an erasure that changes something else too': [
      ended_('handoffs', `reason = '[erased]', target_agent = 'somebody'`),
    ],
    'an erasure of the texts of an ended handoff': [ended_('handoffs', `reason = '[erased]', document = '[erased]'`)],
    'an erasure of what was said': [
      `update batonpass.messages set text = '[erased]' where session_id = '${past.source}' returning 1`,
    ],
    'an erasure of a task': [
      `update batonpass.conversations set original_task = '[erased]' where id = '${past.conversation}' returning 1`,
    ],
    'a salt replaced by a text that ends in a digest': [
      `insert into batonpass.audit_salts select conversation_id, 999, 's sha256:' || repeat('0', 64)
       from batonpass.audit_salts limit 1 returning 1`,
    ],
    'a parent that comes after its child': [
      `update batonpass.conversations set parent_id = '${elsewhere}' where id = '${past.conversation}' returning 1`,
    ],
    'a conversation that is its own parent': [
      like(
        'conversations',
        `original.id = '${elsewhere}'`,
        `(select jsonb_build_object('id', made, 'parent_id', made) from gen_random_uuid() made)`,
      ),
    ],
  }
  return Object.entries(stories).map(([name, statements]) => ({ name: `story, ${name}`, statements }))
}
