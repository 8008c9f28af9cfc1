import type pg from 'pg'

/** A column of the schema. */
export interface Column {
  readonly table: string
  readonly name: string
  readonly type: string
  readonly isNullable: boolean
  readonly isKey: boolean
}

/** Every column of the record: which tables there are is asked of the database, so that a new one is tampered with too. */
export const columnsOf = async (client: pg.Pool): Promise<readonly Column[]> => {
  const { rows } = await client.query<Column>(
    `select c.table_name as table, c.column_name as name, format_type(a.atttypid, null) as type,
       c.is_nullable = 'YES' as "isNullable",
       exists (select from pg_index i where i.indrelid = a.attrelid and i.indisprimary and a.attnum = any (i.indkey)) as "isKey"
     from information_schema.columns c
     join information_schema.tables t using (table_schema, table_name)
     join pg_attribute a on a.attrelid = format('%I.%I', c.table_schema, c.table_name)::regclass and a.attname = c.column_name
     where c.table_schema = 'batonpass' and t.table_type = 'BASE TABLE' and c.table_name <> 'migrations'
     order by c.table_name, c.ordinal_position`,
  )
  return rows
}
