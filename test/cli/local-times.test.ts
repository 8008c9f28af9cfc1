import { beforeAll, describe, expect, it } from 'vitest'
import { momentFlag } from '../../src/adapters/cli/choose/flag-values.ts'
import { minuteIn, zoneIn, zoneSentence } from '../../src/adapters/cli/render/times.ts'
import { instant } from '../../src/entry/index.ts'
import { batonWith, historyInDatabase } from './terminal.ts'

const ZONES = [
  ['Europe/Berlin', '2026-11-16 04:45', 'Times are local: Europe/Berlin.'],
  ['America/New_York', '2026-11-15 22:45', 'Times are local: America/New_York.'],
  ['UTC', '2026-11-16 03:45', 'Times are UTC.'],
] as const

describe.each(ZONES)('in %s', (TZ, minute, sentence) => {
  let there: Awaited<ReturnType<typeof historyInDatabase>>
  beforeAll(async () => {
    there = await historyInDatabase()
  })

  it('lists show local times, and say the zone once, in the last line', async () => {
    const baton = batonWith({ BATONPASS_DATABASE_URL: there.database, TZ })
    for (const words of [
      ['audit', 'query'],
      ['turns', 'issue-7'],
      ['messages', 'issue-7'],
      ['search', 'Go', 'on'],
    ]) {
      const { out } = await baton(...words)
      expect(out).toContain(minute)
      expect(out.split('\n').filter((line) => line.includes('Times are'))).toEqual([sentence])
      expect(out.split('\n').at(-1)).toBe(sentence)
      expect((await baton(...words, '--json')).out).toContain('2026-11-16T03:45:00.000Z')
    }
  })

  it('a time without a zone is a local one', async () => {
    const baton = batonWith({ BATONPASS_DATABASE_URL: there.database, TZ })
    const since = minute.replace(' ', 'T')
    const count = async (...flags: readonly string[]) =>
      JSON.parse((await baton('handoffs', 'list', '--json', ...flags)).out).items.length
    expect(await count('--since', since)).toBe(3)
    expect(await count('--until', since)).toBe(0)
  })
})

describe('a moment', () => {
  it.each([
    ['2026-11-16', 'America/New_York', '2026-11-16T05:00:00.000Z'],
    ['2026-07-16T12:00', 'Europe/Berlin', '2026-07-16T10:00:00.000Z'],
    ['2026-03-29T03:30', 'Europe/Berlin', '2026-03-29T01:30:00.000Z'],
    ['2026-03-29T01:30', 'Europe/Berlin', '2026-03-29T00:30:00.000Z'],
    ['2026-11-16T03:45+05:30', 'Europe/Berlin', '2026-11-15T22:15:00.000Z'],
    ['2026-11-16T03:45:10.5', 'Asia/Kathmandu', '2026-11-15T22:00:10.500Z'],
  ])('%s in %s is %s', (text, zone, expected) => {
    expect(momentFlag(text, zone)).toBe(expected)
  })

  it('shows midnight as 00', () => {
    expect(minuteIn('Europe/Berlin')(instant('2026-11-15T23:00Z'))).toBe('2026-11-16 00:00')
  })

  it('has the zone of the machine where TZ names none that is known', () => {
    expect(zoneIn({ environment: { TZ: 'Nowhere/Town' } })).toBe(zoneIn({ environment: {} }))
    expect(zoneSentence('Etc/UTC')).toBe('Times are UTC.')
  })
})
