import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createBatonpass, type Lineage } from '../src/entry/index.ts'
import { cloneDatabase, onServer, withDatabase } from './support/test-databases.ts'

const run = promisify(execFile)
const hasGit = spawnSync('git', ['--version']).status === 0

describe.skipIf(!hasGit)(`examples/worktree${hasGit ? '' : ' (skipped: there is no git on this machine)'}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'batonpass-worktree-'))
  const worktreePath = join(folder, 'worktrees', 'book')
  const git = async (...args: readonly string[]) =>
    (await run('git', args, { cwd: worktreePath })).stdout.trim().split('\n')
  let printed: string
  let lineage: Lineage | undefined

  beforeAll(async () => {
    const example = ['--import', 'tsx', 'examples/worktree/main.ts', folder]
    printed = (await run(process.execPath, example)).stdout
    // The record outlives the process: this is another one.
    await using batonpass = await createBatonpass({ dataDir: join(folder, 'record') })
    const book = await batonpass.history.conversationByKey('book')
    lineage = book && (await batonpass.history.lineage(book.id))
  })

  afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))

  it('is one conversation of three sessions, each with the checkpoint of the one before', () => {
    expect(lineage?.sessions.map(({ state, progress }) => [state, progress.turns])).toEqual([
      ['handed_off', 2],
      ['handed_off', 2],
      // Its one answer, and the result of the tool that it ended with.
      ['completed', 2],
    ])
    expect(lineage?.handoffs).toMatchObject([
      { kind: 'context_restart', status: 'completed', document: 'Next is chapter three.', flags: [] },
      { kind: 'context_restart', status: 'completed', document: 'Next is chapter five.', flags: [] },
    ])
  })

  it('has the worktree and its branch on record, for every session', () => {
    expect(lineage?.conversation.workspace).toEqual({
      workingDirectory: join(folder, 'repository'),
      worktreePath,
      branch: 'book',
      baseBranch: 'main',
    })
  })

  it('left one branch, with the commits of all three windows', async () => {
    expect(await git('branch', '--format=%(refname:short)')).toEqual(['book', 'main'])
    expect(await git('status', '--porcelain')).toEqual([''])
    expect(await git('log', '--reverse', '--format=%s', 'main..book')).toEqual(
      ['one', 'two', 'three', 'four', 'five'].map((chapter) => `Write chapter ${chapter}`),
    )
    const [first, second, third] = lineage?.sessions.map(({ id }) => id) ?? []
    const trailers = await git(
      'log',
      '--reverse',
      '--format=%(trailers:key=Session,valueonly,separator=)',
      'main..book',
    )
    expect(trailers).toEqual([first, first, second, second, third])
  })

  it('prints the lineage', () => {
    for (const { epoch, id } of lineage?.sessions ?? []) expect(printed).toContain(`session ${epoch} (${id})`)
    expect(printed).toContain('handed on with the checkpoint "Next is chapter three."')
  })
})

describe('examples/own-transaction', () => {
  it('hands on together with the ticket, or not at all', async () => {
    const database = withDatabase(process.env.TEST_DATABASE_URL ?? '', await cloneDatabase())
    const example = ['--import', 'tsx', 'examples/own-transaction/main.ts']
    const { stdout } = await run(process.execPath, example, { env: { ...process.env, DATABASE_URL: database } })
    expect(stdout.trim().split('\n')).toEqual([
      'first-line -> reviewer: initiated',
      'duplicate key value violates unique constraint "tickets_pkey"',
      'handoffs: 1',
    ])
    const [ticket] = await onServer(database, 'select state from tickets')
    expect(ticket).toEqual({ state: 'escalated by first-line' })
    expect(await onServer(database, 'select status from batonpass.handoffs')).toEqual([{ status: 'cancelled' }])
  })
})

describe('examples/fleet', () => {
  it('has each job planned in one process and done in another, once', async () => {
    const database = withDatabase(process.env.TEST_DATABASE_URL ?? '', await cloneDatabase())
    const example = ['--import', 'tsx', 'examples/fleet/main.ts']
    const { stdout } = await run(process.execPath, example, {
      env: { ...process.env, BATONPASS_DATABASE_URL: database },
    })
    const lines = stdout.trim().split('\n').slice(-6)
    const jobs = ['login', 'search', 'prices', 'basket', 'mail', 'help']
    for (const [index, job] of jobs.entries())
      expect(lines[index]).toMatch(new RegExp(`^${job}: planner \\(scripted\\) -> coder \\(coder-[12]\\), completed$`))
    const done = await onServer(
      database,
      "select backend, count(*)::int as jobs from batonpass.agent_sessions where state = 'completed' group by backend order by backend",
    )
    // Both get some, mostly; on a machine that is too busy to start one of them in time, the other does them all.
    for (const { backend } of done) expect(['coder-1', 'coder-2']).toContain(backend)
    expect(done.reduce((sum, { jobs: count }) => sum + Number(count), 0)).toBe(6)
  })
})
