import { randomUUID } from 'node:crypto'
import type { World } from './forgery-world.ts'

/** A column of the schema, as the catalog has it. */
export interface Column {
  readonly table: string
  readonly name: string
  readonly type: string
  readonly required: boolean
}

/** Something that nobody should get in. */
export interface Forgery {
  readonly name: string
  readonly statements: readonly string[]
  /** The same rows, offered to `commit_unit`; absent where it takes no such thing. */
  readonly unit?: readonly string[]
}

/** Every column of every table, from the catalog: a new one is forged without anybody thinking of it. */
export const COLUMNS = `
  select c.relname::text as "table", a.attname::text as name, format_type(t.base, -1) as type, a.attnotnull as required
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  cross join lateral (
    select case when y.typtype = 'd' then y.typbasetype else y.oid end as base from pg_type y where y.oid = a.atttypid) t
  where c.relnamespace = 'batonpass'::regnamespace and c.relkind = 'r'
    and c.relname not in ('migrations', 'feed_generations') -- of the schema itself, not of a conversation
  order by c.relname collate "C", a.attnum`

/** What makes a copy of a row a row of its own. */
const COPIES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  conversations: { id: randomUUID(), external_key: null },
  agent_sessions: {
    ...{ id: randomUUID(), epoch: 99, state: 'paused', initiated_by_handoff: null, turns: 0, last_turn_id: null },
    ...{ last_sequence: null, exchange_start: null, window_start: null, window_end: null },
    ...{ window_user: 0, window_assistant: 0, window_tool: 0, window_system: 0 },
  },
  turns: { id: randomUUID(), number: 99 },
  messages: { id: randomUUID(), sequence_number: 99 },
  tool_calls: { position: 99, call_id: 'another' },
  handoffs: { id: randomUUID(), status: 'failed', end_reason: 'It broke', ended_at: '2026-01-01T00:00:00Z' },
  handoff_tool_calls: { ordinal: 99 },
  context_snapshots: { id: randomUUID() },
  look_backs: { id: randomUUID() },
  thread_summaries: {},
  commands: { id: randomUUID() },
  audit_heads: {},
  audit_entries: { position: 99 },
  audit_salts: { position: 99 },
  context_monitors: {},
  context_signals: { id: randomUUID() },
  session_leases: {},
}

/** Where `commit_unit` takes the rows of a table, and the lists that must stand beside them. */
const LISTS: Readonly<Record<string, string>> = {
  conversations: 'conversations',
  agent_sessions: 'sessions',
  turns: 'turns',
  messages: 'messages',
  tool_calls: 'tool_calls',
  handoffs: 'handoffs',
  handoff_tool_calls: 'handoff_tool_calls',
  context_snapshots: 'snapshots',
  look_backs: 'look_backs',
  context_monitors: 'monitors',
  context_signals: 'signals',
}

const WORDS = /^(state|status|kind|type|role|policy|delivery|flags|asked_by)$/
const literal = (value: unknown): string => `'${JSON.stringify(value).replaceAll("'", "''")}'::jsonb`

/** Wrong values for a column, by what it holds. `other` is the same column of a row in another conversation. */
const wrongValues = ({ name, type, required }: Column): readonly (readonly [what: string, json: string])[] => [
  ...(required ? ([['missing', literal(null)]] as const) : []),
  ...byType(name, type),
]

const byType = (name: string, type: string): readonly (readonly [string, string])[] => {
  if (WORDS.test(name)) return [['a word nobody knows', literal(type === 'text[]' ? ['gossip'] : 'gossip')]]
  switch (type) {
    case 'uuid':
      return [
        ['of nobody', literal(randomUUID())],
        ['of another conversation', 'other'],
      ]
    case 'text':
      return [
        ['empty', literal('')],
        ['blank', literal('\u00a0\u2003\t')],
        ['another', literal('somebody else')],
        ...(name === 'holder' ? ([['the digest of another token', literal('A'.repeat(43))]] as const) : []),
      ]
    case 'smallint':
    case 'integer':
    case 'bigint':
      return [
        ['negative', literal(-1)],
        ['nought', literal(0)],
        ['far ahead', literal(30_000)],
      ]
    case 'double precision':
      return [
        ['negative', literal(-1)],
        ['far ahead', literal(30_000)],
      ]
    case 'timestamp with time zone':
      return [
        ['long ago', literal('1970-01-01T00:00:00Z')],
        ['far ahead', literal('2999-01-01T00:00:00Z')],
      ]
    case 'jsonb':
      return [
        ['with a negative number', literal({ state: 'metered', promptTokens: -1, outputTokens: 0 })],
        ['a list', literal([])],
        ['of something else', literal({ state: 'unknown', by: 'somebody else' })],
      ]
    case 'bytea':
      return [['short', literal('\\x00')]]
    case 'xid8':
      return [['nought', literal('0')]]
    case 'boolean':
      return [['turned', 'turned']]
    default:
      throw new Error(`Nobody has thought of how to forge ${name}, which is ${type}`)
  }
}

/** Every forgery of one row: rows that come in wrong, rows that are changed, rows that go. */
export const forgeries = (columns: readonly Column[], world: World): readonly Forgery[] => {
  const tables = [...new Set(columns.map(({ table }) => table))]
  return [
    ...columns.flatMap((column) =>
      wrongValues(column).flatMap(([what, value]) => [
        insert(world, column.table, `${column.name} ${what}`, wrong(world, column, value)),
        ...(what === 'missing' || what === 'empty' ? [] : update(world, column, what, value)),
      ]),
    ),
    ...tables.flatMap((table) => [
      {
        name: `${table} delete`,
        statements: [`delete from batonpass.${table} original where ${world.atWork[table]} returning 1`],
      },
      { name: `${table} truncate`, statements: [`truncate batonpass.${table} cascade`] },
    ]),
  ]
}

/** Copies with nothing wrong in them: unless these are accepted, what is refused proves nothing. */
export const lawfulCopies = (columns: readonly Column[], world: World): readonly Forgery[] =>
  [...new Set(columns.map(({ table }) => table))].map((table) => insert(world, table, 'a lawful copy', NO_CHANGE))

/** A row's difference to a lawful one, as SQL for JSON. */
const wrong = ({ elsewhere }: World, { table, name, type }: Column, value: string): string => {
  if (value === 'turned') return `jsonb_build_object('${name}', not original.${name})`
  if (value !== 'other') return `jsonb_build_object('${name}', ${value})`
  // Most references are there in the other conversation too; for the others its own id is as wrong.
  const home = table === 'conversations' ? 'id' : 'conversation_id'
  const same = `select there.${name} from batonpass.${table} there
    where there.${home} = '${elsewhere}' and there.${name} is not null limit 1`
  return `jsonb_build_object('${name}', coalesce((${same}), '${elsewhere}'::${type}))`
}

/** Rows of which there is one per conversation or session are copied to one that has none. */
const homeOf = ({ unleased, unsummarised }: World, table: string): Readonly<Record<string, unknown>> => {
  if (table === 'audit_heads') return { conversation_id: COPIES.conversations?.id }
  if (table === 'context_monitors') return { session_id: COPIES.agent_sessions?.id }
  if (table === 'thread_summaries') return { handoff_id: unsummarised }
  return table === 'session_leases' ? { conversation_id: unleased.conversation, session_id: unleased.session } : {}
}

const copied = (world: World, table: string, change: string): string =>
  `select copy.* from batonpass.${table} original, jsonb_populate_record(original,
    ${literal({ ...COPIES[table], ...homeOf(world, table) })} || ${change}) copy where ${world.atWork[table]}`

/** What a copy needs to be lawful: a conversation without a head, a session without a monitor. */
const homes = (world: World, table: string): readonly (readonly [table: string, row: string])[] => {
  if (table === 'audit_heads') return [['conversations', copied(world, 'conversations', NO_CHANGE)]]
  return table === 'context_monitors' ? [['agent_sessions', copied(world, 'agent_sessions', NO_CHANGE)]] : []
}

const NO_CHANGE = literal({})

const insert = (world: World, table: string, what: string, change: string): Forgery => {
  const rows = [...homes(world, table), [table, copied(world, table, change)] as const]
  const statements = rows.map(([into, row]) => `insert into batonpass.${into} ${row} returning 1`)
  const forgery = { name: `${table} insert, ${what}`, statements }
  return LISTS[table] === undefined ? forgery : { ...forgery, unit: [offered(world, rows)] }
}

const SPOKEN: ReadonlySet<string> = new Set(['turns', 'messages', 'tool_calls'])

/**
 * The same rows as a unit. Tool calls come with turns and references with handoffs, of which there are none here. Who
 * speaks shows the token of the session: a forger who has one is stopped by nothing but the rules for rows.
 */
const offered = (world: World, rows: readonly (readonly [table: string, row: string])[]): string => {
  const lists = rows.map(([table, row]) => `'${LISTS[table]}', (select jsonb_agg(rows) from (${row}) rows)`)
  const isSpoken = rows.some(([table]) => SPOKEN.has(table))
  return unitOf([...lists, ...(isSpoken ? [`'turns', '[]'::jsonb`, movedSession(world)] : [`'handoffs', '[]'::jsonb`])])
}

/** A unit, kept by the one function that keeps any; no row is answered when it is not. The first list of a name counts. */
export const unitOf = (lists: readonly string[]): string =>
  `select 1 from batonpass.commit_unit_v1(
    jsonb_build_object('command', '{"id": "${randomUUID()}"}'::jsonb)
      || ${lists
        .toReversed()
        .map((list) => `jsonb_build_object(${list})`)
        .join(' || ')}, '{}', '{}', '{}') as answer
  where answer ->> 'outcome' = 'kept'`

/** A session that moves on, for whoever shows what is asked for: its token, unless told otherwise. */
export const movedSession = (
  { unleased: { session, token } }: World,
  proof = `jsonb_build_object('token', '${token}')`,
): string =>
  `'moved_sessions', (select jsonb_agg(to_jsonb(s) - 'holder'
      || jsonb_build_object('version', s.version + 1, 'last_sequence', s.last_sequence + 1,
        'next_sequence', s.next_sequence + 1, 'expected', ${proof}
        || jsonb_build_object('version', s.version, 'state', s.state, 'held_by', s.held_by, 'turns', s.turns,
          'next_sequence', s.next_sequence)))
    from batonpass.agent_sessions s where s.id = '${session}')`

const update = (world: World, column: Column, what: string, value: string): readonly Forgery[] => {
  const { table, name } = column
  const change = `(jsonb_populate_record(original, ${wrong(world, column, value)})).${name}`
  const changed = (row: string): string =>
    `update batonpass.${table} original set ${name} = ${change} where ${row} and ${name} is distinct from ${change} returning 1`
  const { [table]: atWork = 'false' } = world.atWork
  const { [table]: ended } = world.ended
  return [
    { name: `${table} update, ${name} ${what}`, statements: [changed(atWork)] },
    ...(ended === undefined ? [] : [{ name: `${table} update, ended, ${name} ${what}`, statements: [changed(ended)] }]),
  ]
}
