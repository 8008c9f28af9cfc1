import { beforeEach, describe, expect, it } from 'vitest'
import { onServer } from '../support/test-databases.ts'
import { database } from './spawned.ts'
import { batonOn } from './terminal.ts'

let url: string
beforeEach(async () => {
  url = await database()
  await onServer(
    url,
    `insert into batonpass.commands (id, conversation_id, digest, receipt, kept_at)
     select gen_random_uuid(), gen_random_uuid(), '', '{}', clock_timestamp() - n * interval '6 days'
     from generate_series(0, 1200) as n`,
  )
})

const left = async (): Promise<unknown> =>
  (await onServer(url, 'select count(*)::int as left from batonpass.commands'))[0]?.left

describe('baton prune', () => {
  it('forgets commands older than a week, and shows how it gets on', async () => {
    const { code, out, err } = await batonOn(url)('prune')
    expect({ code, out }).toEqual({ code: 0, out: '1199 commands were forgotten.' })
    expect(err.split('\n').slice(-3)).toEqual([
      '500 commands forgotten',
      '1000 commands forgotten',
      '1199 commands forgotten',
    ])
    expect(await left()).toBe(2)
    expect((await batonOn(url)('prune')).out).toBe('0 commands were forgotten.')
  })

  it('forgets what is older than is said', async () => {
    expect((await batonOn(url)('prune', '--older-than', '1h')).out).toBe('1200 commands were forgotten.')
  })

  it('only counts on a dry run', async () => {
    expect((await batonOn(url)('prune', '--dry-run')).out).toBe('1199 commands would be forgotten.')
    const { out } = await batonOn(url)('prune', '--dry-run', '--older-than', '5d', '--json')
    expect(JSON.parse(out)).toEqual({ commands: 1_200, olderThanMs: 432_000_000, isDryRun: true })
    expect(await left()).toBe(1_201)
  })

  it('answers a machine', async () => {
    const { out } = await batonOn(url)('prune', '--json')
    expect(JSON.parse(out)).toEqual({ commands: 1_199, olderThanMs: 604_800_000, isDryRun: false })
  })

  it.each([['59m'], ['soon'], ['0s']])('does not take %s for an age', async (age) => {
    const { code, err } = await batonOn(url)('prune', '--older-than', age)
    expect(code).toBe(2)
    expect(err).toContain('--older-than cannot be')
    expect(await left()).toBe(1_201)
  })
})
