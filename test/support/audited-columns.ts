/** A column of a table of ours, as `information_schema` describes it. */
export interface Column {
  readonly table: string
  readonly name: string
  readonly type: string
  readonly isNullable: boolean
}

/** Every column there is. `$1` is the schema. */
export const COLUMNS = `
  select table_name as "table", column_name as "name", data_type as "type", is_nullable = 'YES' as "isNullable"
  from information_schema.columns where table_schema = $1 order by table_name, ordinal_position`

/**
 * The columns that verifying does not cover, or whole tables, each with the reason. Whoever adds a column adds it to
 * what is compared, or to this list.
 */
export const NOT_COVERED_COLUMNS: Readonly<Record<string, string>> = {
  context_monitors: 'readings come by the thousand and are not logged; the verdict says so',
  context_signals: 'what sessions are to be told is not logged; the verdict says so',
  thread_summaries:
    'a mirror of summaries, beside the decision: the document of the handoff is verified; the verdict says so',
  session_leases: 'leases are renewed every few seconds and are not logged; the verdict says so',
  feed_generations: 'says on which servers the feed was written, and nothing about a conversation',
  'handoffs.kept_at': 'who waited longer by the clock of the database; the log has the time of the client',
  migrations: 'says which changes of the schema were applied, and nothing about a conversation',
  'agent_sessions.holder':
    'the digest of a token; who changes it locks the holder out, and can write nothing. The verdict says so',
  'audit_entries.transaction_id': 'orders the feed across conversations. The verdict says so',
  'audit_heads.transaction_id': 'as that of the entries',
}

/** Why verifying does not cover a column; `undefined` when it does. */
export const whyNotCovered = ({ table, name }: Pick<Column, 'table' | 'name'>): string | undefined =>
  NOT_COVERED_COLUMNS[table] ?? NOT_COVERED_COLUMNS[`${table}.${name}`]

/** An id that nothing has. */
export const ANOTHER_ID = '00000000-0000-4000-8000-00000000beef'

/** Other values that a constraint may allow; the general ones below would all be refused. */
const OTHER_WORDS: Readonly<Record<string, readonly string[]>> = {
  'agent_sessions.state': ['active', 'paused', 'completed'],
  'context_snapshots.type': ['on_demand', 'checkpoint'],
  'look_backs.asked_by': ['call', 'turn'],
  'handoffs.kind': ['agent_transfer', 'context_restart'],
  'handoffs.status': ['initiated', 'accepted', 'failed', 'cancelled'],
  'messages.role': ['tool', 'system'],
  'messages.origin': ['hook', 'batonpass'],
}

const BY_TYPE: Readonly<Record<string, (name: string) => readonly string[]>> = {
  uuid: () => [`'${ANOTHER_ID}'::uuid`],
  text: (name) => [`coalesce(${name}, '') || 'x'`, `'x'`],
  bigint: (name) => [`coalesce(${name}, 0) + 1`, `${name} - 1`],
  integer: (name) => [`coalesce(${name}, 0) + 1`, `${name} - 1`],
  smallint: (name) => [`coalesce(${name}, 0) + 1`],
  boolean: (name) => [`not ${name}`],
  'double precision': (name) => [`${name} / 2 + 0.1`],
  jsonb: (name) => [`coalesce(${name}, '{}') || '{"x": 1}'`, `'{}'::jsonb`, `'null'::jsonb`],
  ARRAY: (name) => [`array_append(${name}, 'no_progress')`, `'{}'`],
  bytea: (name) => [`set_bit(${name}, 0, 1 - get_bit(${name}, 0))`],
  'timestamp with time zone': (name) => [`coalesce(${name}, now()) + interval '1 second'`],
  xid8: () => [`'1'::xid8`],
}

/** The values, as SQL, that a column of a row is to be given in turn. Some a constraint refuses. */
export const tamperedValues = (column: Column): readonly string[] => {
  const { table, name, type, isNullable } = column
  const general = BY_TYPE[type]
  if (general === undefined) throw new Error(`Say how to tamper with a column of type ${type} (${table}.${name})`)
  const words = OTHER_WORDS[`${table}.${name}`] ?? []
  return [...general(name), ...words.map((word) => `'${word}'`), ...(isNullable ? ['null'] : [])]
}

/** Which column of a table names the conversation. */
export const conversationColumn = (table: string): string => (table === 'conversations' ? 'id' : 'conversation_id')
