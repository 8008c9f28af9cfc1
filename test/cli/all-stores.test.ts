import { mkdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { rememberStore } from '../../src/adapters/place/known-stores.ts'
import { openPglite } from '../../src/adapters/postgres/embedded/open-pglite.ts'
import { Migrator } from '../../src/adapters/postgres/migrate/migrator.ts'
import { readProcess } from '../../src/processes/process-table.ts'
import { startChild } from '../embedded/child-process.ts'
import { makeStore } from '../embedded/made-store.ts'
import { contentsOf } from '../embedded/temporary-folder.ts'
import { tellThreeDays, threeDays } from './night.ts'
import { database, folder, spawnBaton } from './spawned.ts'
import { batonWith } from './terminal.ts'

interface Told {
  readonly stores: readonly {
    readonly store: string
    readonly jobs?: readonly { readonly title: string }[]
    readonly code?: string
    readonly problem?: string
  }[]
  readonly total: { readonly jobs: number }
}

const SINCE = ['--since', '2026-01-02'] as const

/** A port at which nobody listens. */
const closedPort = async (): Promise<number> => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { readonly port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** A home whose person has opened these stores. */
const homeKnowing = (...stores: readonly Parameters<typeof rememberStore>[1][]): { readonly HOME: string } => {
  const environment = { HOME: folder() }
  for (const [minute, store] of stores.entries())
    rememberStore(environment, store, new Date(Date.UTC(2026, 0, 1, 0, minute)))
  return environment
}

const embedded = async (name: string): Promise<string> => {
  const dataDir = join(folder(), name)
  await makeStore(dataDir)
  return dataDir
}

describe('baton report --all-stores', { timeout: 0 }, () => {
  it('tells of every store that can be asked, and names the others with the reason', async () => {
    const [chosen, server, good, older] = [
      await threeDays(),
      await database(),
      await embedded('good'),
      await embedded('older'),
    ]
    {
      await using store = await openPglite({ dataDir: good })
      await tellThreeDays(store)
    }
    {
      await using store = await openPglite({ dataDir: older })
      await new Migrator(store.database).down(1)
    }
    const gone = join(folder(), 'gone')
    mkdirSync(gone, { mode: 0o700 })
    const port = await closedPort()
    const dead = `postgres://somebody@127.0.0.1:${port}/nowhere`
    const known = [{ dataDir: good }, { dataDir: older }, { dataDir: gone }, { database: dead }, { database: server }]
    const environment = homeKnowing(...known, { database: chosen })
    const before = contentsOf(gone)
    const { code, out } = await batonWith(environment)(
      'report',
      '--all-stores',
      '--database',
      chosen,
      ...SINCE,
      '--json',
    )
    expect(code).toBe(0)
    const { stores, total } = JSON.parse(out) as Told
    expect(stores).toHaveLength(6)
    const named = (part: string) => stores.find(({ store }) => store.includes(part))
    expect(stores[0]?.jobs).toHaveLength(6)
    expect(named(good)?.jobs).toHaveLength(6)
    expect(
      stores.find(({ jobs }) => jobs?.length === 0),
      'the empty server',
    ).toBeDefined()
    expect(total.jobs).toBe(12)
    expect(named(`127.0.0.1:${port}`)).toMatchObject({ code: 'store.unavailable', problem: expect.any(String) })
    expect(named(gone)).toMatchObject({ code: 'store.missing' })
    expect(named(older)).toMatchObject({ code: 'store.not_migrated' })
    expect(named(older)?.problem).toContain(`baton report --data-dir ${older}`)
    expect(contentsOf(gone), 'nothing is made').toEqual(before)
    const again = await batonWith(environment, 80)('report', '--all-stores', '--database', chosen, ...SINCE)
    expect(again.out).toContain('not asked: an older version wrote it')
    const alone = await batonWith(environment)('report', '--data-dir', older)
    expect(alone.code, 'the hint is of use').toBe(0)
  })

  it('does not wait for a process that has a folder and does not answer, nor stays for it', async () => {
    const dataDir = await embedded('stopped')
    await using holder = await startChild('opener.ts', [dataDir])
    holder.say('open')
    expect(JSON.parse(await holder.hear())).toMatchObject({ outcome: 'opened' })
    process.kill(holder.pid, 'SIGSTOP')
    await vi.waitFor(() => expect(readProcess(holder.pid)?.isStopped).toBe(true), { timeout: 60_000 })
    const environment = homeKnowing({ dataDir })
    const { ended } = spawnBaton(['report', '--all-stores', '--database', await database(), '--json'], environment)
    const { code, out } = await ended
    expect(code).toBe(0)
    const { stores } = JSON.parse(out) as Told
    expect(stores[1]).toMatchObject({
      code: 'store.unavailable',
      problem: expect.stringContaining(`process ${holder.pid}`),
    })
    expect(stores[1]?.problem).toContain('did not answer within 5 seconds')
  })

  it('fails when no store could be asked', async () => {
    const dead = `postgres://somebody@127.0.0.1:${await closedPort()}/nowhere`
    const { code, err } = await batonWith(homeKnowing())('report', '--all-stores', '--database', dead)
    expect(code).toBe(1)
    expect(err).toContain('No store could be asked')
  })
})
