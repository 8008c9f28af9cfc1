import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { schemaSnapshot } from '../../scripts/schema-snapshot.ts'
import { openMigratorAt } from '../../src/adapters/postgres/open-migrator.ts'
import { program } from '../support/bundle.ts'
import { emptyDatabase, expectedSnapshot, throughPooler } from './empty-database.ts'

const PROCESSES = 20

interface Migrating {
  readonly child: ChildProcess
  /** Sends a line and waits for the answer. */
  ask(line: string): Promise<string>
}

const start = async (): Promise<Migrating> => {
  const child = spawn(process.execPath, [await program(resolve('test/migrations/migrate-process.ts'))])
  let problems = ''
  child.stderr.on('data', (chunk: Buffer) => {
    problems += chunk.toString()
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const heard = async (): Promise<string> => {
    const { done, value } = await lines.next()
    if (done === true) throw new Error(`A process ended: ${problems}`)
    return value
  }
  const ask = (line: string): Promise<string> => {
    child.stdin.write(`${line}\n`)
    return heard()
  }
  expect(await heard()).toBe('here')
  return { child, ask }
}

/** Everybody is connected and has seen an empty database before anybody may begin. */
const migrate = async (everyone: readonly Migrating[], url: string): Promise<readonly string[]> => {
  const ready = await Promise.all(everyone.map(({ ask }) => ask(url)))
  expect(new Set(ready)).toEqual(new Set(['ready']))
  const applied = await Promise.all(everyone.map(({ ask }) => ask('go')))
  return applied.flatMap((names) => JSON.parse(names) as readonly string[])
}

describe(`${PROCESSES} processes that migrate at once`, () => {
  let everyone: readonly Migrating[] = []
  // Twenty times starting Node takes its time on a busy machine; the race itself does not.
  beforeAll(async () => {
    everyone = await Promise.all(Array.from({ length: PROCESSES }, start))
  }, 600_000)
  afterAll(async () => {
    for (const { child } of everyone) {
      const ended = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined
      child.stdin?.end()
      await ended
    }
  })

  const appliedOnce = async (reach: (url: string) => string): Promise<void> => {
    const url = await emptyDatabase()
    const applied = await migrate(everyone, reach(url))
    await using opened = openMigratorAt({ connectionString: url })
    expect(applied.toSorted()).toEqual((await opened.migrator.status()).map(({ name }) => name))
    expect(await schemaSnapshot(opened.database)).toBe(await expectedSnapshot())
  }

  it('all succeed, and each change is applied once', () => appliedOnce((url) => url))

  it.skipIf(process.env.TEST_POOLER_URL === undefined)('do so behind a transaction pooler too', () =>
    appliedOnce((url) => throughPooler(url) ?? url),
  )
})
