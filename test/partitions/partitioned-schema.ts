import { offlineSql } from '../../src/adapters/postgres/migrate/offline-sql.ts'

/** Partitions of each table: few, and more than one. */
const PARTITIONS = 4

/** Tables that are found by something else than a conversation: by their key, by the id of the command, or by a number. */
const WHOLE: ReadonlySet<string> = new Set(['conversations', 'commands', 'feed_generations', 'migrations'])

const TABLE = /create table (?:if not exists )?"?batonpass"?\.(\w+) \(([\s\S]*?)\n\)([^;]*);/g

/**
 * The script of the whole schema with every table of the record partitioned by its conversation: what somebody does by hand
 * who makes a large store. Nothing else of it is changed.
 */
export const partitionedSchema = async (): Promise<{ readonly script: string; readonly tables: readonly string[] }> => {
  const tables: string[] = []
  const script = (await offlineSql('batonpass')).replaceAll(TABLE, (whole, name: string, columns: string, storage) => {
    if (WHOLE.has(name)) return whole
    tables.push(name)
    const parts = Array.from(
      { length: PARTITIONS },
      (_, part) =>
        `create table batonpass.${name}_${part} partition of batonpass.${name}
         for values with (modulus ${PARTITIONS}, remainder ${part}) ${storage};`,
    )
    return `create table batonpass.${name} (${columns}\n) partition by hash (conversation_id);\n${parts.join('\n')}`
  })
  return { script, tables }
}
