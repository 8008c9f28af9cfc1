import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { runCli } from '../../src/adapters/cli/tree/run-command.ts'
import { openMigratorAt } from '../../src/adapters/postgres/open-migrator.ts'
import { emptyDatabase, throughPooler } from './empty-database.ts'

const connected = async (connectionString: string, name: string): Promise<pg.Client> => {
  const client = new pg.Client({ connectionString, application_name: name })
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

/** A schema that lacks its newest changes, and somebody who reads one of its tables and does not end. */
const withOpenReader = async () => {
  const connectionString = await emptyDatabase()
  await using opened = openMigratorAt({ connectionString })
  const names = await opened.migrator.up()
  // That one changes the table that is read.
  const missing = (await opened.migrator.down(names.length - names.indexOf('0010_holder_digests'))).toReversed()
  const reader = await connected(connectionString, 'a report')
  await reader.query('begin')
  await reader.query('select count(*) from batonpass.handoffs')
  return { connectionString, reader, missing }
}

/** Waits for something, unless what it waits for has ended before. */
const untilTrue = async (isTrue: () => boolean, applying: Promise<unknown>): Promise<void> => {
  let hasEnded = false
  applying.then(
    () => {
      hasEnded = true
    },
    () => {
      hasEnded = true
    },
  )
  while (!isTrue() && !hasEnded) await new Promise((resolve) => setTimeout(resolve, 10))
  expect(isTrue()).toBe(true)
}

describe('migrate up while somebody reads', () => {
  it.each(['directly', 'through a pooler'])(
    'lets others work between its tries, says who is in the way, and ends, %s',
    async (way) => {
      const { connectionString, reader, missing } = await withOpenReader()
      const address = way === 'directly' ? connectionString : (throughPooler(connectionString) ?? connectionString)
      const said: string[] = []
      await using opened = openMigratorAt({
        connectionString: address,
        onWarning: (message) => void said.push(message),
      })
      let isDone = false
      const applying = opened.migrator.up().finally(() => {
        isDone = true
      })
      // Each writer comes after the change has begun to wait, and must get through while the reader still reads.
      const writer = await connected(connectionString, 'a writer')
      for (let tries = 1; tries <= 2; tries += 1) {
        await untilTrue(() => said.length >= tries, applying)
        await writer.query('begin; lock table batonpass.handoffs in row exclusive mode; commit')
      }
      expect(isDone).toBe(false)
      expect(said[0]).toMatch(
        /waits for process \d+ of the server \(role \w+, application a report, idle in transaction, its transaction is \d+ s old\), which uses handoffs\. It tries again, for another \d+ s\.$/,
      )
      await reader.query('commit')
      expect(await applying).toEqual(missing)
    },
  )

  it('gives up after the time it was given, and has changed nothing', async () => {
    const { connectionString, missing } = await withOpenReader()
    await using opened = openMigratorAt({ connectionString, lockWaitMs: 1_500 })
    await expect(opened.migrator.up()).rejects.toMatchObject({
      code: 'store.contention',
      message: expect.stringMatching(/^Nothing was changed: within 2 s .*application a report.*--lock-wait/),
      cause: { code: '55P03' },
    })
    const pending = (await opened.migrator.status()).filter(({ state }) => state === 'pending')
    expect(pending.map(({ name }) => name)).toEqual(missing)
  })

  it('is told by the command on standard error', async () => {
    const { connectionString } = await withOpenReader()
    const [out, err]: [string[], string[]] = [[], []]
    const status = await runCli(['migrate', 'up', '--lock-wait', '2s', '--database', connectionString], {
      out: { line: (text) => void out.push(text) },
      err: { line: (text) => void err.push(text) },
      version: 'test',
      environment: {},
    })
    expect({ status, out }).toEqual({ status: 1, out: [] })
    expect(err.join('\n')).toMatch(/Warning: The change of the schema waits for process \d+/)
    expect(err.join('\n')).toMatch(/Nothing was changed: within 2 s.*store\.contention/)
  })

  it('waits for another process that migrates, and says so', async () => {
    const connectionString = await emptyDatabase()
    const other = await connected(connectionString, 'another')
    await other.query('begin')
    await other.query(`select pg_advisory_xact_lock(hashtextextended('batonpass migrations batonpass', 0))`)
    const said: string[] = []
    await using opened = openMigratorAt({ connectionString, onWarning: (message) => void said.push(message) })
    const applying = opened.migrator.up()
    await untilTrue(() => said.length > 0, applying)
    await other.query('commit')
    expect((await applying).length).toBeGreaterThan(0)
    expect(said).toEqual(['Another process changes the same schema; this one waits for it.'])
  })
})
