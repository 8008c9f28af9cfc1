import { afterAll, describe, expect, it } from 'vitest'
import type { SqlStore } from '../../src/adapters/postgres/open/sql-store.ts'
import { name } from '../../src/domain/input/words.ts'
import { ask } from '../migrations/empty-database.ts'
import { closeStores, openStore } from '../support/stores.ts'

/** Whether a name that is this character alone is refused. */
const isBlank = (n: number): boolean => {
  const problems: { field: string; problem: string }[] = []
  name(String.fromCharCode(n), 'name', problems)
  return problems.length > 0
}

/** Every character that a text may consist of alone, by its number; NUL and halves of pairs are stored escaped. */
const NUMBERS = 'generate_series(1, 65535) n where n not between 55296 and 57343'

/** Whether a domain type takes a text, without an error that would end the query. */
const TAKES = `create function public.takes(kind text, content text) returns boolean language plpgsql as $$
begin
  execute format('select %L::batonpass.%I', content, kind);
  return true;
exception when check_violation then
  return false;
end
$$`

describe.each(['postgres', 'pglite'] as const)('blank text on %s', (kind) => {
  afterAll(closeStores)

  it('is what the domain says it is, character by character', async () => {
    const { database } = (await openStore(kind)).store as SqlStore
    await ask(database, TAKES)
    const refused = (type: string) =>
      ask<{ n: number }>(database, `select n from ${NUMBERS} and not public.takes('${type}', chr(n)) order by n`)
    const blank = Array.from({ length: 65_535 }, (_, index) => index + 1).filter(isBlank)
    expect(blank).toContain(0xa0)
    expect((await refused('non_blank')).map(({ n }) => n)).toEqual(blank)
    expect((await refused('trimmed')).map(({ n }) => n)).toEqual(blank)
  })

  it('around a name is refused, and within it is not', async () => {
    const { database } = (await openStore(kind)).store as SqlStore
    const takes = async (type: string, content: string): Promise<unknown> =>
      (await ask<{ takes: boolean }>(database, 'select public.takes($1, $2) as takes', type, content))[0]?.takes
    expect(await takes('trimmed', 'claude code')).toBe(true)
    expect(await takes('trimmed', 'claude\u00a0')).toBe(false)
    expect(await takes('trimmed', '\u2003claude')).toBe(false)
    expect(await takes('trimmed', '')).toBe(false)
    expect(await takes('non_blank', ' claude\n')).toBe(true)
    expect(await takes('non_blank', '')).toBe(false)
  })
})
