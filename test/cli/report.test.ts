import { beforeAll, describe, expect, it } from 'vitest'
import { since } from '../../src/adapters/cli/commands/report.ts'
import { widthOf } from '../../src/adapters/cli/render/text.ts'
import { openPostgres } from '../../src/adapters/postgres/open/open-postgres.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import { Scene } from '../../src/testing/scene.ts'
import { FIRST_DAY, SECOND_DAY, THIRD_DAY, threeDays } from './night.ts'
import { database, folder } from './spawned.ts'
import { batonWith, NASTY } from './terminal.ts'

interface Told {
  readonly stores: readonly {
    readonly jobs: readonly Readonly<Record<string, unknown>>[]
    readonly next?: string
  }[]
  readonly total: object
  readonly days: readonly object[]
  readonly earlier?: object
  readonly folders: readonly object[]
}

let url: string
beforeAll(async () => {
  url = await threeDays()
}, 600_000)

const baton = (columns?: number) => batonWith({ HOME: folder(), TZ: 'UTC' }, columns)

const told = async (...args: readonly string[]): Promise<Told> => {
  const { code, out } = await baton()('report', '--database', url, '--since', SECOND_DAY, '--json', ...args)
  expect(code).toBe(0)
  return JSON.parse(out) as Told
}

const titlesOf = ({ stores }: Told): readonly unknown[] => stores.flatMap(({ jobs }) => jobs.map(({ title }) => title))

describe('baton report', () => {
  it('tells every job since then, the latest first, with its threads folded in', async () => {
    const report = await told()
    expect(titlesOf(report)).toEqual([
      'Ran out of money',
      'Split the work',
      'Lost its process',
      'Review it',
      'Write the plan',
      'Mend the login',
    ])
    const [paused, split, lost, waits, long, failed] = report.stores[0]?.jobs ?? []
    expect(long).toMatchObject({ state: 'finished', windows: 2, restarts: 1, costUsd: 1.75, folder: '/srv/repo-a' })
    expect(long).toMatchObject({ agents: ['claude-code'], waits: [], failures: [] })
    expect(failed).toMatchObject({ state: 'failed', costUsd: 2, folder: '/srv/repo-b' })
    expect(failed?.failures).toMatchObject([{ agent: 'claude-code', reason: 'The disk is full' }])
    expect(waits).toMatchObject({ state: 'waiting', conversationKey: 'issue-9' })
    expect(waits?.waits).toMatchObject([{ for: 'agent', agent: 'opus', what: 'handoff' }])
    expect(paused).toMatchObject({ state: 'waiting', waits: [{ for: 'person', what: 'paused' }] })
    expect(split).toMatchObject({ state: 'finished', windows: 2, agents: ['claude-code', 'helper'] })
    expect(split?.threads).toMatchObject([{ title: 'Do a part' }])
    expect(split?.failures).toMatchObject([{ agent: 'helper', reason: 'It gave up' }])
    // Where processes cannot be told apart, only the lease says how it stands.
    expect(lost).toMatchObject({ state: process.platform === 'linux' ? 'orphaned' : 'running', agents: ['codex'] })
    expect('costUsd' in (lost ?? {}) || 'folder' in (lost ?? {})).toBe(false)
  })

  it('adds up by day and by folder, and what had ended before', async () => {
    const { total, days, earlier, folders } = await told()
    expect(total).toEqual({ jobs: 6, windows: 8, costUsd: 3.75 })
    expect(days).toEqual([
      { day: THIRD_DAY, jobs: 5, windows: 6, costUsd: 1 },
      { day: SECOND_DAY, jobs: 1, windows: 1, costUsd: 2 },
    ])
    expect(earlier).toEqual({ jobs: 1, windows: 1, costUsd: 0.75 })
    expect(folders).toEqual([
      { folder: '/srv/repo-b', jobs: 3, windows: 3, costUsd: 2 },
      { folder: '/srv/repo-a', jobs: 2, windows: 4, costUsd: 1.75 },
      { jobs: 1, windows: 1 },
    ])
  })

  it('goes back as far as it is told, and always tells what has not ended', async () => {
    expect(titlesOf(await told('--since', FIRST_DAY))).toContain('Was over before')
    expect(titlesOf(await told('--since', '24h'))).toEqual(['Ran out of money', 'Lost its process', 'Review it'])
  })

  it('comes in pages, or as a whole', async () => {
    const all = titlesOf(await told())
    const first = await told('--limit', '4')
    const rest = await told('--limit', '4', '--after', first.stores[0]?.next ?? '')
    expect([...titlesOf(first), ...titlesOf(rest)]).toEqual(all)
    expect(rest.stores[0]).not.toHaveProperty('next')
    expect(titlesOf(await told('--limit', '2', '--all'))).toEqual(all)
    const { out, err } = await baton()('report', '--database', url, '--since', SECOND_DAY, '--limit', '4')
    expect(out).toMatch(/^Since 2026-01-02 00:00 \(UTC\): the latest 4 jobs/)
    expect(err).toMatch(/There are more jobs, .*\n {2}baton report .*--after jobs-/)
  })

  it.each([80, 40, 25])(
    'fits into %i columns, and shows the state, the title and what is to know of each job',
    async (columns) => {
      const { code, out } = await baton(columns)('report', '--database', url, '--since', SECOND_DAY)
      expect(code).toBe(0)
      for (const line of out.split('\n')) expect(widthOf(line), line).toBeLessThanOrEqual(columns)
      const words = out.replaceAll(/\s+/g, ' ')
      for (const text of [
        'failed Mend the',
        '"The disk is full"',
        'waits for opus',
        'waits for you: it is paused',
        '"It gave up"',
      ])
        expect(words).toContain(text)
      expect(words).toMatch(/DAY .*2026-01-03 5/)
    },
  )

  it('says everything of a job where there is room', async () => {
    const { out } = await baton(120)('report', '--database', url, '--since', SECOND_DAY)
    expect(out).toMatch(
      /^finished {2}Write the plan\n {10}\d+d ago · \/srv\/repo-a · claude-code · 2 windows · 1 restart · \$1\.75 · [0-9a-f]{6}$/m,
    )
    expect(out).toMatch(/^ {10}helper failed in the thread "Do a part": "It gave up"$/m)
    expect(out).toMatch(/· issue-9$/m)
  })

  it('is Markdown for a colleague, which no text of others can break', async () => {
    const nasty = await database()
    {
      await using store = await openPostgres({ connectionString: nasty })
      const scene = new Scene({ store, passTime: async () => {} })
      const task = `a | b <img src=x> [c](http://d) *e* \`f\` ${NASTY}`
      const { conversation } = unwrap(
        await scene.service.openConversation({ originalTask: task, workspace: { workingDirectory: `/srv/${NASTY}|` } }),
      )
      const session = await scene.session('agent|\\|*x*', conversation)
      unwrap(await scene.service.failSession({ ...session, reason: `| it\n| --- |\n# broke ${NASTY}` }))
    }
    const { code, out } = await baton()('report', '--database', nasty, '--since', FIRST_DAY, '--markdown')
    expect(code).toBe(0)
    const rows = out.split('\n').filter((line) => line.startsWith('|'))
    expect(rows).toHaveLength(3)
    // A pipe counts unless the backslashes before it are odd in number.
    for (const row of rows) expect([...row.matchAll(/(?<!\\)(?:\\\\)*\|/g)], row).toHaveLength(9)
    expect(out).not.toMatch(/(?<!\\)<(?!br>)|(?<!\\)`|(?<!\\)\[/)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not come through
    expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e\u2066]/)
    const shown = await baton(80)('report', '--database', nasty, '--since', FIRST_DAY)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not come through
    expect(shown.out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e\u2066]/)
  })

  it('says so when nothing happened', async () => {
    const { code, out } = await baton()('report', '--database', await database())
    expect(code).toBe(0)
    expect(out).toMatch(/: 0 jobs, 0 windows\nNothing happened, and nothing waits\.$/)
  })

  it.each([
    ['--since', 'tuesday'],
    ['--json', '--markdown'],
    ['--all-stores', '--after', 'x'],
  ])('is not understood with %s %s', async (...args) => {
    expect((await baton()('report', '--database', url, ...args)).code).toBe(2)
  })
})

describe('the time a report begins at', () => {
  const now = Date.parse('2026-11-18T06:30:00Z')

  it.each([
    [undefined, 'UTC', '2026-11-17T18:00:00.000Z'],
    [undefined, 'Europe/Berlin', '2026-11-17T17:00:00.000Z'],
    // Where it is still the day before.
    [undefined, 'America/Los_Angeles', '2026-11-17T02:00:00.000Z'],
    ['today', 'Europe/Berlin', '2026-11-17T23:00:00.000Z'],
    ['yesterday', 'Europe/Berlin', '2026-11-16T23:00:00.000Z'],
    ['24h', 'Europe/Berlin', '2026-11-17T06:30:00.000Z'],
    ['7d', 'UTC', '2026-11-11T06:30:00.000Z'],
    ['2026-11-16', 'Europe/Berlin', '2026-11-15T23:00:00.000Z'],
    ['2026-11-16T03:45Z', 'Europe/Berlin', '2026-11-16T03:45:00.000Z'],
  ])('is, for %s in %s, %s', (text, zone, at) => {
    expect(since(text, now, zone)).toBe(at)
  })
})
