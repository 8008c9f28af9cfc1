import { afterEach, describe, expect, it } from 'vitest'
import { ConfigurationError, createBatonpass } from '../../src/entry/index.ts'
import { MemoryStore } from '../../src/entry/memory.ts'
import { openPglite, openPostgres } from '../../src/entry/postgres.ts'
import { FixedClock, ScriptedRuntime } from '../../src/entry/testing.ts'

/** Options as JavaScript gives them, where no type looks. */
const create = (options: object) => createBatonpass(options)

const problemsOf = async (opening: Promise<unknown>): Promise<readonly string[]> => {
  const error = await opening.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(ConfigurationError)
  return (error as ConfigurationError).problems.map(({ path, advice }) => `${path}: ${advice}`)
}

describe('an option that nobody knows is refused, with the nearest name', () => {
  it.each([
    [{ databse: 'postgres://localhost/x' }, 'databse: Did you mean "database"?'],
    [{ dataDirectory: '/tmp/x' }, undefined],
    [{ Redact: String }, 'Redact: Did you mean "redact"?'],
    [{ monitor: { contextLimt: 5 } }, 'monitor.contextLimt: Did you mean "contextLimit"?'],
    [{ restartBudget: { maxRestart: 1 } }, 'restartBudget.maxRestart: Did you mean "maxRestarts"?'],
    [{ runs: { leaseMS: 5, lease: 5 } }, 'runs.leaseMS: Did you mean "leaseMs"?'],
    [{ runs: { fanOut: { maxOpn: 1 } } }, 'runs.fanOut.maxOpn: Did you mean "maxOpen"?'],
    [{ runs: { hooks: [{ comand: 'true' }] } }, 'runs.hooks[0].comand: Did you mean "command"?'],
    [{ threads: { markers: { begn: 'x' } } }, 'threads.markers.begn: Did you mean "begin"?'],
  ])('%j', async (wrong, advice) => {
    const [first] = await problemsOf(create({ store: 'memory', ...wrong }))
    if (advice === undefined) expect(first).toMatch(/^dataDirectory: /)
    else expect(first).toBe(advice)
  })

  it('by those who open a store themselves too', async () => {
    expect(await problemsOf(openPostgres({ conectionString: 'postgres://x/y' } as object))).toEqual([
      'conectionString: Did you mean "connectionString"?',
    ])
    expect(await problemsOf(openPglite({ datadir: '/nowhere' } as object))).toEqual([
      'datadir: Did you mean "dataDir"?',
    ])
  })
})

describe('options that contradict each other are refused', () => {
  const given = ['database', 'databaseFile', 'dataDir', 'schema', 'autoMigrate', 'pooled', 'share', 'mustExist']
  const exampleOf = (name: string): unknown => (/^(data|schema)/.test(name) ? 'postgres://localhost/x' : true)

  it.each(given)('a store in memory, and %s', async (name) => {
    const [problem] = await problemsOf(create({ store: 'memory', [name]: exampleOf(name) }))
    expect(problem).toBe(`${name}: Leave out "store", or leave out "${name}".`)
  })

  it.each(given)('a store of the caller, and %s', async (name) => {
    await using store = new MemoryStore({ clock: new FixedClock() })
    const [problem] = await problemsOf(create({ store, [name]: exampleOf(name) }))
    expect(problem).toBe(`${name}: Leave out "store", or leave out "${name}".`)
  })
})

describe('a variable that is not set', () => {
  const NAME = 'BATONPASS_TEST_NOT_SET'
  afterEach(() => {
    delete process.env[NAME]
  })

  it('compiles as the place of a store, and is refused when it is opened', async () => {
    const unset = process.env[NAME]
    const openings = [
      () => createBatonpass({ database: unset }),
      () => createBatonpass({ databaseFile: unset }),
      () => createBatonpass({ dataDir: unset }),
      () => createBatonpass({ store: 'memory', database: unset }),
      () => openPostgres({ connectionString: unset }),
      () => openPglite({ dataDir: unset }),
    ]
    for (const open of openings) await expect(open()).rejects.toMatchObject({ code: 'store.bad_address' })
  })
})

describe('a request that nobody understands is refused, with the nearest name', () => {
  const runtime = new ScriptedRuntime({ windows: [] })
  const fieldsOf = (error: unknown) =>
    (error as { refusal?: { fields?: readonly { field: string; problem: string }[] } }).refusal?.fields
  const refused = (asking: Promise<unknown>) =>
    asking.then(
      () => undefined,
      (error: unknown) => fieldsOf(error)?.map(({ field, problem }) => `${field}: ${problem}`),
    )

  it('of a run, of work and of a recovery', async () => {
    await using batonpass = await createBatonpass({ store: 'memory' })
    const meant = (name: string) => `it is not known here. Did you mean "${name}"?`
    const run = { runtime, agent: 'claude', prompt: 'Go', maxTurn: 1 }
    expect(await refused(batonpass.run(run).finish())).toEqual([`maxTurn: ${meant('maxTurns')}`])
    const cast = { agents: { claude: runtime }, starts: 'claude', start: 'claude', prompt: 'Go' }
    expect(await refused(batonpass.run(cast as never).finish())).toEqual([`starts: ${meant('start')}`])
    const work = { agents: { claude: runtime }, drainMS: 1, run: { leaseMS: 1 } }
    expect(await refused(batonpass.work(work as never))).toEqual([
      `drainMS: ${meant('drainMs')}`,
      `run.leaseMS: ${meant('leaseMs')}`,
    ])
    expect(await refused(batonpass.recover({ runtime: [runtime] } as never))).toEqual([`runtime: ${meant('runtimes')}`])
  })

  it('but a command takes more than it asks for: answers are spread into requests', async () => {
    await using batonpass = await createBatonpass({ store: 'memory' })
    const opened = await batonpass.handoffs.openConversation({ originalTask: 'Fix it', ...{ anything: 1 } })
    expect(opened.ok).toBe(true)
  })
})
