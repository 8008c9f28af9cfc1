import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { serviceIn } from '../../src/adapters/cli/choose/store-options.ts'
import type { Invocation } from '../../src/adapters/cli/invocation/invocation.ts'
import { readArguments } from '../../src/adapters/hook-client/hook-arguments.ts'
import { hookPlace } from '../../src/adapters/hook-client/hook-place.ts'
import { createBatonpass, type Logger } from '../../src/entry/index.ts'
import { TERMINAL_AGENTS } from '../../src/main/runtimes.ts'
import { type Situation, situationsIn } from './situations.ts'

const { room, environment: base, own, plain, situations, job, project, src } = situationsIn()
const before = process.cwd()
beforeEach(() => {
  for (const name of ['DATABASE_URL', 'DATABASE_URL_FILE']) vi.stubEnv(name, undefined)
  vi.stubEnv('HOME', base.HOME)
})
afterEach(() => {
  process.chdir(before)
  vi.unstubAllEnvs()
})
afterAll(() => rmSync(room, { recursive: true, force: true }))

const enter = ({ workingFolder, environment = {} }: Situation): void => {
  process.chdir(workingFolder)
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)
}

const matches = (folder: string, expected: string | RegExp | undefined): void => {
  if (expected instanceof RegExp) expect(folder).toMatch(expected)
  else expect(folder).toBe(expected)
}

/** A hook as it is called: its flags, and the input of the runtime. */
const placeOfHook = (
  at: Situation,
  input: Readonly<Record<string, unknown>>,
  more: Readonly<Record<string, string>> = {},
) => {
  const words = Object.entries(at.flags ?? {}).flatMap(([name, value]) => [`--${name}`, value])
  const hook = readArguments(['stop', ...words], TERMINAL_AGENTS)
  if (hook === undefined) throw new Error('it is a hook')
  return hookPlace(hook, input, { ...base, ...at.environment, ...more })
}

describe('a hook', () => {
  const possible = situations.filter(({ flags = {} }) => !('database' in flags))

  it.each(possible)('speaks to the service of the same store with $name', (situation) => {
    const place = placeOfHook(situation, { cwd: situation.workingFolder })
    if (situation.refusal === undefined) matches(place.folder, situation.service)
    expect(place.problems).toEqual(situation.refusal === undefined ? [] : [expect.stringContaining(situation.refusal)])
  })

  it.each(possible.filter(({ refusal }) => refusal === undefined))(
    'starts a service that serves that store from that folder, with $name',
    (situation) => {
      const { folder, flags } = placeOfHook(situation, { cwd: situation.workingFolder })
      // As it is started: in its folder, with these flags and the same variables.
      process.chdir(before)
      const invocation = { values: flags, environment: { ...base, ...situation.environment } } as unknown as Invocation
      const served = serviceIn(invocation, folder)
      expect(served.folder).toBe(folder)
      const { name, value } = nameAndValue(situation)
      expect(served.store).toMatchObject({ [name]: value })
    },
  )

  it('goes by the project of the session, wherever the agent is within it', () => {
    const at: Situation = { name: 'elsewhere', workingFolder: plain }
    const elsewhere = { cwd: plain }
    expect(placeOfHook(at, elsewhere).folder).toBe(own)
    expect(placeOfHook(at, elsewhere, { CLAUDE_PROJECT_DIR: src }).folder).toBe(project)
    expect(placeOfHook(at, { ...elsewhere, workspace: { project_dir: job } }).folder).toBe(project)
    expect(placeOfHook(at, { cwd: src }, { CLAUDE_PROJECT_DIR: plain }).folder).toBe(own)
    process.chdir(src)
    expect(placeOfHook(at, {}).folder).toBe(project)
    expect(placeOfHook(at, { cwd: 7 }).folder).toBe(project)
  })
})

/** The option of a store that its name in a situation stands for. */
const nameAndValue = ({ store = '' }: Situation) => {
  const [, dataDir] = /^embedded, in (.*)$/.exec(store) ?? []
  const [, databaseFile] = /named in (.*), schema/.exec(store) ?? []
  if (dataDir !== undefined) return { name: 'dataDir', value: dataDir }
  if (databaseFile !== undefined) return { name: 'databaseFile', value: databaseFile }
  return { name: 'database', value: store.replace(/, schema.*$/, '') }
}

describe('createBatonpass() that names no store', () => {
  const possible = situations.filter(({ flags }) => flags === undefined)

  it.each(possible)('uses the same one, and names it once, with $name', async (situation) => {
    enter(situation)
    const told: string[] = []
    const failure = await createBatonpass({ onWarning: (message) => void told.push(message) }).catch((error) => error)
    if (situation.refusal !== undefined) {
      expect(failure).toMatchObject({ code: 'store.bad_address', message: expect.stringContaining(situation.refusal) })
      expect(told).toEqual([])
      return
    }
    // None of these stores can be opened: what is said is said before.
    expect(failure).toMatchObject({ name: 'StoreFailure' })
    expect(told).toHaveLength(1)
    const { name, value } = nameAndValue(situation)
    expect(told[0]).toContain(name === 'database' ? 'the database none on 127.0.0.1:1' : value)
    for (const remark of situation.remarks ?? []) expect(told[0]).toContain(remark.trim())
  })

  it('tells the logger, else the process, and says nothing where a store is named', async () => {
    process.chdir(plain)
    const [warn, emitWarning] = [vi.fn(), vi.spyOn(process, 'emitWarning').mockImplementation(() => {})]
    const logger: Logger = { debug: () => {}, info: () => {}, warn, error: () => {} }
    await createBatonpass({ logger }).catch(() => {})
    expect(warn).toHaveBeenCalledExactlyOnceWith({}, expect.stringContaining(own))
    expect(emitWarning).not.toHaveBeenCalled()
    await createBatonpass().catch(() => {})
    await createBatonpass().catch(() => {})
    expect(emitWarning).toHaveBeenCalledExactlyOnceWith(expect.stringContaining(own), 'BatonpassStore')
    await createBatonpass({ logger, dataDir: own }).catch(() => {})
    await (await createBatonpass({ logger, store: 'memory' })).close()
    expect(warn).toHaveBeenCalledOnce()
    emitWarning.mockRestore()
  })

  it('refuses a home folder that cannot be written, and an option that is there and says nothing', async () => {
    process.chdir(plain)
    const closed = join(room, 'closed')
    mkdirSync(closed)
    writeFileSync(join(closed, '.batonpass'), '')
    vi.stubEnv('HOME', closed)
    await expect(createBatonpass({ onWarning: () => {} })).rejects.toMatchObject({
      code: 'store.bad_address',
      message: expect.stringContaining(`${join(closed, '.batonpass')} cannot be written`),
    })
    await expect(createBatonpass({ database: undefined })).rejects.toMatchObject({ code: 'store.bad_address' })
  })
})
