import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { knownStores } from '../../src/adapters/place/known-stores.ts'
import { createBatonpass } from '../../src/entry/index.ts'
import { AGENT_COMMAND } from '../cli/spawned.ts'
import { program } from '../support/bundle.ts'

const BATON = await program(resolve('src/adapters/cli/main.ts'))
const UNREAD = 'DATABASE_URL is set and is not read'
const SESSION = '5b0a8a2e-6c2f-4a1e-9d7e-0f1e2d3c4b5a'

const room = realpathSync(mkdtempSync(join(tmpdir(), 'batonpass-one-store-')))
const home = join(room, 'home')
const job = join(home, 'job')
const src = join(job, 'src')
const store = join(job, '.batonpass')
/** A project with a database of its own, which must not be asked for anything. */
const environment = { HOME: home, DATABASE_URL: 'postgres://of-the-project@127.0.0.1:1/shop' }
const before = process.cwd()

afterEach(() => {
  process.chdir(before)
  vi.unstubAllEnvs()
})
afterAll(() => rmSync(room, { recursive: true, force: true, maxRetries: 10 }))

interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** Types a command in a folder. */
const baton = (cwd: string, args: readonly string[], input = '', more: NodeJS.ProcessEnv = {}): Promise<Ended> => {
  const child = spawn(process.execPath, [BATON, ...args], { cwd, env: { ...process.env, ...environment, ...more } })
  const said = { out: '', err: '' }
  child.stdout.on('data', (part: Buffer) => {
    said.out += part.toString()
  })
  child.stderr.on('data', (part: Buffer) => {
    said.err += part.toString()
  })
  child.stdin.on('error', () => {}).end(input)
  return new Promise((done) => child.once('close', (code) => done({ code, ...said })))
}

const timesIn = (text: string): number => text.split(UNREAD).length - 1

describe('in ~/job/src, below a project store, with the DATABASE_URL of the project', () => {
  beforeAll(async () => {
    mkdirSync(src, { recursive: true })
    expect((await baton(job, ['init'])).code).toBe(0)
    const run = await baton(src, ['run', '--command', AGENT_COMMAND, '--conversation', 'issue-7', 'Fix it'], '', {
      SCRIPT: 'say:1000',
    })
    expect({ code: run.code, times: timesIn(run.err) }).toEqual({ code: 0, times: 1 })
    // So that the hook below keeps its event and starts no service.
    writeFileSync(join(store, 'service.start'), '', { mode: 0o600 })
  }, 0)

  it('lists and status read what run wrote, and say once that the variable is not read', async () => {
    const list = await baton(src, ['conversations', 'list', '--json'])
    expect(JSON.parse(list.out)).toMatchObject({ items: [{ externalKey: 'issue-7' }] })
    expect(timesIn(list.err)).toBe(1)
    const status = await baton(src, ['status', '--json'])
    expect(JSON.parse(status.out)).toMatchObject({ store: `embedded, in ${store}` })
    expect(timesIn(status.err)).toBe(1)
  })

  it('a hook keeps its event there, wherever its process is', async () => {
    const input = JSON.stringify({ session_id: SESSION, cwd: src, hook_event_name: 'SessionStart', source: 'startup' })
    const { code, err } = await baton(home, ['hook', 'session-start'], input, { BATONPASS_HOOK_BUDGET_MS: '300000' })
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(readdirSync(join(store, 'spool')).filter((name) => name.endsWith('.json'))).toHaveLength(1)
  })

  it('a program without options reads it too, and is told once', async () => {
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)
    process.chdir(src)
    const told: string[] = []
    await using batonpass = await createBatonpass({ onWarning: (message) => void told.push(message) })
    expect(await batonpass.history.conversationByKey('issue-7')).toMatchObject({ originalTask: 'Fix it' })
    expect(told).toEqual([expect.stringContaining(`the embedded store in ${store}`)])
    expect(timesIn(told.join())).toBe(1)
  })

  it('is the only store there is, and is on the list', () => {
    expect(readdirSync(src)).toEqual([])
    expect(readdirSync(join(home, '.batonpass')).sort()).toEqual(['.gitignore', 'stores.json'])
    expect(knownStores(environment)).toEqual([
      { kind: 'folder', path: store, id: expect.any(String), openedAt: expect.any(String) },
    ])
  })
})
