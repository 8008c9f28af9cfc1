import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ConversationId } from '../../src/entry/index.ts'
import { closeStores } from '../support/stores.ts'
import { Stage } from './stage.ts'

afterAll(closeStores)

const LENGTH = 12

type Statement = readonly [text: string, ...parameters: unknown[]]

interface Tampering {
  readonly name: string
  readonly finds: string
  readonly how: (id: ConversationId) => readonly Statement[]
}

const ENTRIES = 'batonpass.audit_entries'
const HEADS = 'batonpass.audit_heads'

const onEntry =
  (set: string) =>
  (id: ConversationId, at: number): Statement => [
    `update ${ENTRIES} set ${set} where conversation_id = $1 and position = $2`,
    id,
    at,
  ]

const removed =
  (which: string) =>
  (id: ConversationId): readonly Statement[] => [[`delete from ${ENTRIES} where conversation_id = $1 and ${which}`, id]]

const swapped =
  (a: number, b: number) =>
  (id: ConversationId): readonly Statement[] => [
    onEntry('position = -1')(id, a),
    onEntry(`position = ${a}`)(id, b),
    onEntry(`position = ${b}`)(id, -1),
  ]

/** An entry that any writer could have made, after the last there is. Its hash is right. */
const forged = (id: ConversationId, body: string): Statement => [
  `insert into ${ENTRIES} (conversation_id, position, command_id, body, previous_hash, hash)
   select conversation_id, position + 1, conversation_id, $2, hash,
     batonpass.audit_hash(hash, conversation_id, position + 1, conversation_id, $2)
   from ${HEADS} where conversation_id = $1`,
  id,
  body,
]

const toLast = (id: ConversationId): Statement => [
  `update ${HEADS} h set position = e.position, hash = e.hash from ${ENTRIES} e
   where h.conversation_id = $1 and e.conversation_id = $1
     and e.position = (select max(position) from ${ENTRIES} where conversation_id = $1)`,
  id,
]

const eventOf = (id: ConversationId, rest: object): string =>
  JSON.stringify({ at: '2026-01-01T00:00:00.000Z', conversationId: id, version: 1, ...rest })

/** What a chain of hashes alone shows. */
const CHAIN: readonly Tampering[] = [
  { name: 'the first entry removed', finds: 'missing 1', how: removed('position = 1') },
  { name: 'an entry in the middle removed', finds: 'missing 6', how: removed('position = 6') },
  { name: 'several removed', finds: 'missing 3', how: removed('position in (3, 4, 9)') },
  { name: 'the last entry removed', finds: 'missing 12', how: removed('position = 12') },
  { name: 'the tail removed', finds: 'missing 8', how: removed('position >= 8') },
  { name: 'all entries removed', finds: 'missing 1', how: removed('true') },
  { name: 'two neighbours swapped', finds: 'reordered 6', how: swapped(6, 7) },
  { name: 'two far apart swapped', finds: 'reordered 1', how: swapped(1, 12) },
  {
    name: 'one removed and the rest moved up',
    finds: 'reordered 6',
    how: (id) => [
      ...removed('position = 6')(id),
      ...Array.from({ length: 6 }, (_, index) => onEntry('position = position - 1')(id, index + 7)),
    ],
  },
  {
    name: 'the head removed',
    finds: 'missing 13',
    how: (id) => [[`delete from ${HEADS} where conversation_id = $1`, id]],
  },
  {
    name: 'the head set back',
    finds: 'forked 12',
    how: (id) => [
      [
        `update ${HEADS} h set position = 11, hash = e.hash from ${ENTRIES} e
         where h.conversation_id = $1 and e.conversation_id = $1 and e.position = 11`,
        id,
      ],
    ],
  },
  {
    name: 'the head set forward',
    finds: 'missing 13',
    how: (id) => [[`update ${HEADS} set position = 13 where conversation_id = $1`, id]],
  },
  {
    name: 'a head of another hash',
    finds: 'forked 12',
    how: (id) => [[`update ${HEADS} set hash = sha256('another') where conversation_id = $1`, id]],
  },
  {
    name: 'an entry forged behind the head',
    finds: 'forked 13',
    how: (id) => [forged(id, eventOf(id, { type: 'anything' }))],
  },
  {
    name: 'an entry rewritten with a hash to match',
    finds: 'forked 7',
    how: (id) => [
      onEntry(`body = '{}', hash = batonpass.audit_hash(previous_hash, conversation_id, position, command_id, '{}')`)(
        id,
        6,
      ),
    ],
  },
  {
    name: 'the first entry of another conversation in the place of this one’s',
    finds: 'modified 1',
    how: (id) => [
      [
        `update ${ENTRIES} e set command_id = o.command_id, body = o.body, previous_hash = o.previous_hash, hash = o.hash
         from ${ENTRIES} o where e.conversation_id = $1 and e.position = 1 and o.conversation_id <> $1 and o.position = 1`,
        id,
      ],
    ],
  },
]

/** What shows only beside the chain: the hashes are all right. */
const BESIDE: readonly Tampering[] = [
  {
    name: 'an entry forged, with a head to match, that changes a session',
    finds: 'state_differs 13',
    how: (id) => [
      [
        `insert into ${ENTRIES} (conversation_id, position, command_id, body, previous_hash, hash)
         select h.conversation_id, 13, h.conversation_id, f.body, h.hash,
           batonpass.audit_hash(h.hash, h.conversation_id, 13, h.conversation_id, f.body)
         from ${HEADS} h, lateral (
           select format('{"at":"2026-01-01T00:00:00.000Z","conversationId":"%s","sessionId":"%s","type":"session.paused","version":1}',
             h.conversation_id, s.id) as body
           from batonpass.agent_sessions s where s.conversation_id = h.conversation_id and s.state = 'active') f
         where h.conversation_id = $1`,
        id,
      ],
      toLast(id),
    ],
  },
  {
    name: 'an entry forged, with a head to match, about a snapshot that was never taken',
    finds: 'impossible 13',
    how: (id) => [
      [
        `insert into ${ENTRIES} (conversation_id, position, command_id, body, previous_hash, hash)
         select h.conversation_id, 13, h.conversation_id, f.body, h.hash,
           batonpass.audit_hash(h.hash, h.conversation_id, 13, h.conversation_id, f.body)
         from ${HEADS} h, lateral (
           select replace(body, e.body::jsonb -> 'snapshot' ->> 'id', h.conversation_id::text) as body
           from ${ENTRIES} e where e.conversation_id = h.conversation_id and e.position = 3) f
         where h.conversation_id = $1`,
        id,
      ],
      toLast(id),
    ],
  },
  {
    name: 'an entry forged, with a head to match, that is nonsense',
    finds: 'state_differs 13',
    how: (id) => [forged(id, 'nonsense'), toLast(id)],
  },
  {
    name: 'the tail removed and the head set back to match, in the middle of a command',
    finds: 'impossible 10',
    how: (id) => [...removed('position > 10')(id), toLast(id)],
  },
  ...(
    [
      ['a session', `update batonpass.agent_sessions set agent_name = 'somebody' where epoch = 2`, 'state_differs 10'],
      ['a session’s version', `update batonpass.agent_sessions set version = 7 where epoch = 2`, 'state_differs 10'],
      ['a session’s window', 'update batonpass.agent_sessions set window_user = 9 where epoch = 2', 'state_differs 10'],
      ['a handoff', `update batonpass.handoffs set target_agent = 'somebody' where true`, 'state_differs 12'],
      ['a turn', `update batonpass.turns set usage = '{"state": "unknown"}' where true`, 'state_differs 4'],
      ['a tool call', `update batonpass.tool_calls set tool_name = 'rm' where call_id is not null`, 'state_differs 4'],
      [
        'a message’s role',
        `update batonpass.messages set role = 'system' where sequence_number = 2`,
        'state_differs 4',
      ],
      [
        'a message’s origin',
        `update batonpass.messages set origin = 'hook' where sequence_number = 1`,
        'state_differs 4',
      ],
      ['a snapshot', `update batonpass.context_snapshots set captured_at = '2020-01-01' where true`, 'state_differs 3'],
      ['a message’s text', `update batonpass.messages set text = 'Else' where sequence_number = 2`, 'text_differs 4'],
      ['an opening message', `update batonpass.messages set text = '-' where sequence_number = 3`, 'text_differs 10'],
      ['a reason', `update batonpass.handoffs set reason = 'Another reason' where true`, 'text_differs 12'],
      ['a document', `update batonpass.handoffs set document = 'Another' where true`, 'text_differs 12'],
    ] as const
  ).map(([what, text, finds]) => ({
    name: `${what} changed by hand`,
    finds,
    how: (id: ConversationId): readonly Statement[] => [[`${text} and conversation_id = $1`, id]],
  })),
  {
    name: 'the task changed by hand',
    finds: 'text_differs 1',
    how: (id) => [[`update batonpass.conversations set original_task = 'Another' where id = $1`, id]],
  },
  {
    name: 'a handoff removed',
    finds: 'state_differs 12',
    how: (id) => [[`delete from batonpass.handoffs where conversation_id = $1`, id]],
  },
  {
    name: 'a message removed',
    finds: 'state_differs 4',
    how: (id) => [[`delete from batonpass.messages where conversation_id = $1 and sequence_number = 1`, id]],
  },
  {
    name: 'a message added',
    finds: 'state_differs',
    how: (id) => [
      [
        `insert into batonpass.messages select conversation_id, 9, conversation_id, session_id, null, role, origin, text, recorded_at
         from batonpass.messages where conversation_id = $1 and sequence_number = 1`,
        id,
      ],
    ],
  },
]

describe.each(['postgres', 'pglite'] as const)('on %s', (kind) => {
  let stage: Stage
  beforeAll(async () => {
    stage = await Stage.on(kind)
  })
  const cases = [...CHAIN, ...BESIDE].filter((_, index) => kind === 'postgres' || index % 4 === 0)

  it('a stream nobody touched verifies', async () => {
    expect(await stage.found(await stage.conversation())).toBe(`intact ${LENGTH}`)
  })

  it.each(cases)('$name: $finds', async ({ how, finds }) => {
    const [id, other] = [await stage.conversation(), await stage.conversation()]
    await stage.tamper(...how(id))
    expect(await stage.found(id)).toBe(finds)
    expect(await stage.found(other)).toBe(`intact ${LENGTH}`)
  })

  it('an answer that is remembered cannot be rewritten', async () => {
    const id = await stage.conversation()
    const changed = await stage.tamper([
      `update batonpass.commands set receipt = receipt || '{"outcome": "another"}'
       where id = (select command_id from ${ENTRIES} where conversation_id = $1 and position = 5)`,
      id,
    ])
    expect([changed, await stage.found(id)]).toEqual([1, 'state_differs 5'])
  })

  it('a command that nobody remembers any more is no problem', async () => {
    const id = await stage.conversation()
    expect(await stage.tamper(['delete from batonpass.commands where conversation_id = $1', id])).toBe(5)
    expect(await stage.found(id)).toBe(`intact ${LENGTH}`)
  })

  it('every one is found when all conversations are verified', async () => {
    const [id, gone] = [await stage.conversation(), await stage.conversation()]
    await stage.tamper(...removed('position = 2')(id))
    const tables = ['conversations', 'audit_heads'].map((table) => `batonpass.${table}`)
    await stage.tamper(
      ...tables.map((table): Statement => [`delete from ${table} where $1 in (${keyOf(table)})`, gone]),
    )
    const broken = new Map<string, string>()
    for await (const verdict of stage.audit.verifyAll()) {
      if (!verdict.intact) broken.set(verdict.conversationId, verdict.problem.class)
    }
    expect(broken.get(id)).toBe('missing')
    expect(broken.get(gone)).toBe('missing')
  })
})

const keyOf = (table: string): string => (table.endsWith('heads') ? 'conversation_id' : 'id')

describe('single bits', () => {
  const flips: readonly (readonly [column: string, flip: string, finds: (at: number) => string])[] = [
    ['hash', 'hash = set_bit(hash, $3::int, 1 - get_bit(hash, $3::int))', (at) => `modified ${at}`],
    [
      'previous_hash',
      'previous_hash = set_bit(previous_hash, $3::int, 1 - get_bit(previous_hash, $3::int))',
      (at) => `modified ${at}`,
    ],
    [
      'command_id',
      `command_id = encode(set_bit(uuid_send(command_id), $3::int % 128, 1 - get_bit(uuid_send(command_id), $3::int % 128)), 'hex')::uuid`,
      (at) => `modified ${at}`,
    ],
    [
      'body',
      `body = convert_from(set_bit(convert_to(body, 'UTF8'), 8 * $3::int, 1 - get_bit(convert_to(body, 'UTF8'), 8 * $3::int)), 'UTF8')`,
      (at) => `modified ${at}`,
    ],
    ['position', 'position = position # (1::bigint << (4 + $3::int % 59))', (at) => `reordered ${at}`],
  ]

  it.each(flips)('of %s are found at every position', async (_, set, finds) => {
    const stage = await Stage.on('postgres')
    const id = await stage.conversation()
    const kept = `create table if not exists kept as select * from ${ENTRIES} with no data`
    await stage.tamper(
      [kept],
      ['delete from kept'],
      [`insert into kept select * from ${ENTRIES} where conversation_id = $1`, id],
    )
    for (let at = 1; at <= LENGTH; at += 1) {
      for (const bit of [0, 1, Math.floor(Math.random() * 80)]) {
        await stage.tamper([`update ${ENTRIES} set ${set} where conversation_id = $1 and position = $2`, id, at, bit])
        expect(`bit ${bit}: ${await stage.found(id)}`).toBe(`bit ${bit}: ${finds(at)}`)
        await stage.tamper(...removed('true')(id), [`insert into ${ENTRIES} select * from kept`])
      }
    }
    expect(await stage.found(id)).toBe(`intact ${LENGTH}`)
  })

  it('of a position’s sign are found too', async () => {
    const stage = await Stage.on('postgres')
    const id = await stage.conversation()
    await stage.tamper(onEntry('position = position # (1::bigint << 63)')(id, 5))
    expect(await stage.found(id)).toMatch(/^reordered -/)
  })
})

describe('without the primary key', () => {
  const copied = (columns: string): Statement['0'] =>
    `insert into ${ENTRIES} (conversation_id, position, command_id, body, previous_hash, hash, transaction_id)
     select ${columns} from ${ENTRIES} where conversation_id = $1 and position = 6`

  beforeAll(async () => {
    const stage = await Stage.on('postgres')
    await stage.tamper([`alter table ${ENTRIES} drop constraint audit_entries_pkey`])
  })

  it.each([
    ['an entry twice', 'conversation_id, position, command_id, body, previous_hash, hash, transaction_id', 'forked 6'],
    [
      'a second entry with a hash to match',
      `conversation_id, position, command_id, '{}', previous_hash,
       batonpass.audit_hash(previous_hash, conversation_id, position, command_id, '{}'), transaction_id`,
      'forked 6',
    ],
    [
      'an entry copied to a later position',
      'conversation_id, 7, command_id, body, previous_hash, hash, transaction_id',
      'reordered 7',
    ],
  ])('%s is found', async (_, columns, finds) => {
    const stage = await Stage.on('postgres')
    const id = await stage.conversation()
    await stage.tamper([copied(columns), id])
    expect(await stage.found(id)).toBe(finds)
  })
})
