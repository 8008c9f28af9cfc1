import { readFileSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import type { SqlStore } from '../../src/adapters/postgres/open/sql-store.ts'
import { ask } from '../migrations/empty-database.ts'
import { closeStores, openStore } from '../support/stores.ts'
import { REASONS } from './accepted-forgeries.ts'
import { forgedStories } from './forged-stories.ts'
import { COLUMNS, type Column, type Forgery, forgeries, lawfulCopies } from './forgeries.ts'
import { admitProgram, attemptAs, lawfulWorld } from './forgery-world.ts'

const GOLDEN = new URL('forgeries.golden', import.meta.url)

/** Otherwise run `npx vitest run test/schema/forgeries.test.ts -u`, and say why whatever is newly accepted may be. */
describe.each(['postgres', 'pglite'] as const)('forged rows on %s', (kind) => {
  afterAll(closeStores)

  it('are refused or accepted as the golden file says', async () => {
    const store = (await openStore(kind)).store as SqlStore
    const world = await lawfulWorld(store)
    await admitProgram(store)
    const columns = await ask<Column>(store.database, COLUMNS)
    for (const copy of lawfulCopies(columns, world)) {
      expect([copy.name, await attemptAs(store, 'superuser', copy.statements)]).toEqual([copy.name, 'accepted'])
    }
    const lines = [HEADER]
    for (const forgery of [...forgedStories(world), ...forgeries(columns, world)]) {
      lines.push(...(await triedOn(store, forgery)))
    }
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(GOLDEN.pathname)
  }, 600_000)
})

const HEADER = '# forgery | as a superuser | as a program | as a program, through commit_unit'

const triedOn = async (store: SqlStore, { name, statements, unit }: Forgery): Promise<readonly string[]> => {
  const superuser = await attemptAs(store, 'superuser', statements)
  if (superuser === 'nothing to change') return []
  const program = await attemptAs(store, 'program', statements)
  const offered = unit === undefined ? '-' : await attemptAs(store, 'program', unit)
  return [[name, superuser, program, offered].join(' | ')]
}

describe('the golden file', () => {
  const lines = readFileSync(GOLDEN, 'utf8').trim().split('\n').slice(1)
  const accepted = lines.filter((line) => line.includes('| accepted')).map((line) => line.split(' | ')[0] ?? '')
  const patterns = Object.values(REASONS).flat()
  const matches = (pattern: string, name: string): boolean =>
    new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(name)

  it('has a reason for every forgery that is accepted', () => {
    expect(accepted.filter((name) => !patterns.some((pattern) => matches(pattern, name)))).toEqual([])
  })

  it('has no reason that nothing needs', () => {
    expect(patterns.filter((pattern) => !accepted.some((name) => matches(pattern, name)))).toEqual([])
  })

  it('lets a program write nothing but through commit_unit', () => {
    expect(lines.filter((line) => line.split(' | ')[2] !== 'refused by rights')).toEqual([])
  })

  it('lets nothing through commit_unit that a superuser could not write', () => {
    const more = lines.filter((line) => / \| refused by [^|]+ \| [^|]+ \| accepted$/.test(line))
    expect(more).toEqual([])
  })
})
