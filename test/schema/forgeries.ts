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
  where c.relnamespace = 'batonpass'::regnamespace and c.relkind = 'r' and c.relname <> 'migrations'
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
  context_monitors: 'monitors',
  context_signals: 'signals',
}

const WORDS = /^(state|status|kind|type|role|policy|delivery|flags)$/
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

/** Every forgery there is: rows that come in wrong, rows that are changed, rows that go. */
export const forgeries = (columns: readonly Column[], world: World): readonly Forgery[] => {
  const tables = [...new Set(columns.map(({ table }) => table))]
  return [
    ...tables.flatMap((table) => insert(world, table, 'a lawful copy', '{}')),
    ...columns.flatMap((column) =>
      wrongValues(column).flatMap(([what, value]) => [
        ...insert(world, column.table, `${column.name} ${what}`, wrong(world, column, value)),
        ...update(world, column, what, value),
      ]),
    ),
    ...tables.flatMap((table) => [
      { name: `${table} delete`, statements: [`delete from batonpass.${table} original where ${world.atWork[table]} returning 1`] },
      { name: `${table} truncate`, statements: [`truncate batonpass.${table} cascade`] },
    ]),
  ]
}

/** A row's difference to a lawful one, as SQL for JSON. */
const wrong = ({ elsewhere }: World, { table, name, type }: Column, value: string): string => {
  const key = `'${name}'`
  if (value === 'turned') return `jsonb_build_object(${key}, not original.${name})`
  if (value !== 'other') return `jsonb_build_object(${key}, ${value})`
  // Most references are there in the other conversation too; what is not is made up of what is.
  const home = table === 'conversations' ? 'id' : 'conversation_id'
  const same = `(select there.${name} from batonpass.${table} there where there.${home} = '${elsewhere}' and there.${name} is not null limit 1)`
  return `jsonb_build_object(${key}, coalesce(${same}, '${elsewhere}'::${type}))`
}

const copied = (world: World, table: string, change: string): string => {
  const fresh = { ...COPIES[table], ...(table === 'session_leases' && leaseOf(world)) }
  return `select copy.* from batonpass.${table} original,
    jsonb_populate_record(original, ${literal(fresh)} || ${homeOf(table)} || ${change}) copy where ${world.atWork[table]}`
}

const leaseOf = ({ unleased }: World) => ({ session_id: unleased })

/** Rows of which there is one per conversation or session are copied to a new one. */
const homeOf = (table: string): string => {
  if (table === 'audit_heads') return `jsonb_build_object('conversation_id', '${COPIES.conversations?.id}'::uuid)`
  if (table === 'context_monitors') return `jsonb_build_object('session_id', '${COPIES.agent_sessions?.id}'::uuid)`
  if (table !== 'session_leases') return `'{}'::jsonb`
  return `jsonb_build_object('conversation_id',
    (select s.conversation_id from batonpass.agent_sessions s where s.id = '${'$'}unleased'))`
}

const before = (world: World, table: string): readonly string[] => {
  if (table === 'audit_heads') return [added(world, 'conversations', `'{}'`)]
  if (table === 'context_monitors') return [added(withSessionOf(world), 'agent_sessions', `'{}'`)]
  return []
}

/** The session whose monitor is copied must be one of the monitor's conversation. */
const withSessionOf = (world: World): World => ({
  ...world,
  atWork: { ...world.atWork, agent_sessions: `original.id = '${world.unleased}'` },
})

const added = (world: World, table: string, change: string): string => {
  const cleared = table === 'agent_sessions' ? `'{"held_by": null}' || ${change}` : change
  const row = copied(world, table, cleared.startsWith("'{}'") ? `'{}'::jsonb` : `(${cleared})::jsonb`)
  return `insert into batonpass.${table} ${row.replaceAll('$unleased', world.unleased)} returning 1`
}

const insert = (world: World, table: string, what: string, change: string): readonly Forgery[] => {
  const name = `${table} insert, ${what}`
  const plain = change === '{}' ? `'{}'::jsonb` : change
  const statements = [...before(world, table), added(world, table, plain)]
  const list = LISTS[table]
  if (list === undefined) return [{ name, statements }]
  return [{ name, statements, unit: offered(world, table, list, plain) }]
}

/** The same row as a unit. Tool calls come with turns and references with handoffs, of which there are none here. */
const offered = (world: World, table: string, list: string, change: string): readonly string[] => {
  const beside = table === 'tool_calls' ? '{"turns": []}' : table === 'handoff_tool_calls' ? '{"handoffs": []}' : '{}'
  const home = table === 'context_monitors' ? withSessionOf(world) : world
  const sessions =
    table === 'context_monitors'
      ? `|| jsonb_build_object('sessions', (select jsonb_agg(s) from (${copied(home, 'agent_sessions', `'{"held_by": null}'::jsonb`)}) s))`
      : ''
  return [
    `select batonpass.commit_unit('${beside}'::jsonb ${sessions} || jsonb_build_object(
      'command', jsonb_build_object('id', '${randomUUID()}'),
      '${list}', (select jsonb_agg(row) from (${copied(world, table, change)}) row)), '{}', '{}', '{}')`,
  ]
}

const update = (world: World, column: Column, what: string, value: string): readonly Forgery[] => {
  const { table, name, type } = column
  if (value === literal(null) || what === 'empty') return []
  const statement = (where: string): string =>
    `update batonpass.${table} original set ${name} = (jsonb_populate_record(original, ${wrong(world, column, value)})).${name}
     where ${where} and original.${name} is distinct from (jsonb_populate_record(original, ${wrong(world, column, value)})).${name}
     returning 1`
  const ended = world.ended[table]
  void type
  return [
    { name: `${table} update, ${name} ${what}`, statements: [statement(world.atWork[table] ?? 'false')] },
    ...(ended === undefined
      ? []
      : [{ name: `${table} update, ended, ${name} ${what}`, statements: [statement(ended)] }]),
  ]
}
