import { quotedName } from '../statements/database.ts'
import { ledgerOf, ledgerSql, lockName, type Migration, readMigrations } from './migration-files.ts'

const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** The place of a change, named in full or by its number. */
const placeOf = (migrations: readonly Migration[], version: string): number => {
  const number = version.padStart(4, '0')
  const place = migrations.findIndex(({ name }) => name === version || name.startsWith(`${number}_`))
  if (place >= 0) return place
  const newest = migrations.at(-1)?.name ?? 'none'
  throw new RangeError(`there is no change "${version}". Name one, or give its number; the newest is ${newest}.`)
}

/**
 * The script that `up` would run on an empty database, for people who run SQL by hand.
 *
 * @example
 * ```ts
 * const script = await offlineSql('tenant_7')
 * console.log(script.includes('create table "tenant_7".handoffs')) // => true
 * ```
 */
export const offlineSql = async (schema: string, from?: string): Promise<string> => {
  const all = await readMigrations(schema)
  const migrations = from === undefined ? all : all.slice(placeOf(all, from) + 1)
  return [
    'begin;',
    // A statement that comes behind a waiting change waits too. Where this is too short, the script is run again.
    "set local lock_timeout = '5s';",
    `select pg_advisory_xact_lock(hashtextextended(${literal(lockName(schema))}, 0));`,
    `create schema if not exists ${quotedName(schema)};`,
    ledgerSql(schema).trim(),
    ...migrations.map(
      ({ name, up, digest }) =>
        `\n-- ${name}\n${up.trim()}\ninsert into ${ledgerOf(schema)} (name, applied_at, digest) values (${literal(name)}, clock_timestamp(), ${digest === undefined ? 'null' : literal(digest)});`,
    ),
    '\ncommit;',
  ].join('\n')
}
