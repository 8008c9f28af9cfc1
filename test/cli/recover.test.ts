import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { createBatonpass, unwrap } from '../../src/entry/index.ts'
import { openPostgres } from '../../src/entry/postgres.ts'
import { AGENT_COMMAND, alive, database, folder, spawnBaton, until } from './spawned.ts'
import { batonOn } from './terminal.ts'

let url: string
beforeEach(async () => {
  url = await database()
})

/** Leaves a session of a backend behind, as a process does that was killed. */
const leaveBehind = async (backend: string, key: string, leaseMs = 1_000) => {
  await using batonpass = await createBatonpass({ database: url })
  const { handoffs } = batonpass
  const { conversation } = unwrap(await handoffs.openConversation({ originalTask: 'Fix it', externalKey: key }))
  const agent = { conversationId: conversation.id, agentName: 'claude-code', backend, leaseMs }
  const { session } = unwrap(await handoffs.startSession({ ...agent, prompt: 'Fix it' }))
  return session
}

const lapsed = () => new Promise((resolve) => setTimeout(resolve, 1_200))

const recover = (args: readonly string[], environment: Readonly<Record<string, string>> = {}) =>
  spawnBaton(['recover', ...args], { BATONPASS_DATABASE_URL: url, SCRIPT: 'turn:1000 say:2000', ...environment }).ended

const stateOf = async (id: string): Promise<string> =>
  (JSON.parse((await batonOn(url)('sessions', 'show', id, '--json')).out) as { state: string }).state

describe('baton recover', () => {
  it('says so when there is nothing to do', async () => {
    expect(await batonOn(url)('recover')).toEqual({ code: 0, out: 'There is nothing to recover.', err: '' })
    expect(JSON.parse((await batonOn(url)('recover', '--json')).out)).toEqual({
      recovered: [],
      redaction: { hidden: 0, withheld: 0 },
    })
  })

  it('leaves a living process alone', async () => {
    await using batonpass = await createBatonpass({ database: url })
    const { conversation } = unwrap(await batonpass.handoffs.openConversation({ originalTask: 'Fix it' }))
    const agent = { conversationId: conversation.id, agentName: 'claude-code', backend: 'command', leaseMs: 60_000 }
    const { session } = unwrap(await batonpass.handoffs.startSession(agent))
    const until = (await batonpass.waiting())[0]?.until
    const { code, out } = await batonOn(url)('recover', '--fail')
    expect({ code, lines: out.split('\n') }).toEqual({
      code: 0,
      lines: [
        'Not recovered, because a process that may still live has it (--wait waits for that):',
        `${session.id}  until ${until}`,
      ],
    })
    const json = JSON.parse((await batonOn(url)('recover', '--json')).out) as unknown
    expect(json).toMatchObject({ recovered: [], waiting: [{ sessionId: session.id, until, processes: [] }] })
    expect(await stateOf(session.id)).toBe('active')
  })

  it('takes limits, which are the new totals of what it resumes; --fail has nothing to limit', async () => {
    const session = await leaveBehind('command', 'limited')
    const limits = ['--max-takeovers', '0', '--max-cost', '2.50', '--allow-unpriced', '--max-restarts', '7']
    const { code, out } = await recover(['--wait', '--command', AGENT_COMMAND, ...limits])
    expect({ code, out }).toMatchObject({ code: 1, out: expect.stringContaining(`${session.id}  resumed: `) })
    await using batonpass = await createBatonpass({ database: url })
    const { restartBudget } = (await batonpass.history.conversationByKey('limited')) ?? {}
    expect(restartBudget).toMatchObject({ maxTakeovers: 0, maxCostUsd: 2.5, maxRestarts: 7 })
    expect(await stateOf(session.id)).toBe('failed')
    expect(await batonOn(url)('recover', '--fail', '--max-cost', '5')).toMatchObject({ code: 2 })
  })

  it('recovers with the agents of a file, and takes no runtime beside them', async () => {
    const session = await leaveBehind('command', 'of-a-team')
    const file = join(folder(), 'team.yaml')
    const agents = [{ name: 'claude-code', runtime: 'command', command: AGENT_COMMAND }]
    writeFileSync(file, JSON.stringify({ agents }))
    const { code, out } = await recover(['--wait', '--agents', file])
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining(`${session.id}  resumed: completed`) })
    expect(await stateOf(session.id)).toBe('completed')
    expect(await batonOn(url)('recover', '--agents', file, '--runtime', 'claude')).toMatchObject({ code: 2 })
    expect(await batonOn(url)('recover', '--agents', file, '--fail')).toMatchObject({ code: 2 })
  })

  it('waits for a lease with --wait, and recovers what it leaves', async () => {
    // Longer than a busy machine needs to start the program: the lease must not be over when it looks.
    const session = await leaveBehind('command', 'waited-for', 10_000)
    const { code, out, err } = await recover(['--wait', '--command', AGENT_COMMAND])
    expect({ code, out }).toMatchObject({
      code: 0,
      out: expect.stringContaining(`${session.id}  resumed: completed`),
    })
    expect(err).toContain(`Waiting for ${session.id}  until `)
    expect(await stateOf(session.id)).toBe('completed')
  })

  it('does not wait for ever for a process that lives', async () => {
    await using batonpass = await createBatonpass({ database: url })
    const { conversation } = unwrap(await batonpass.handoffs.openConversation({ originalTask: 'Fix it' }))
    const agent = { conversationId: conversation.id, agentName: 'claude-code', backend: 'command', leaseMs: 60_000 }
    const { session, holder } = unwrap(await batonpass.handoffs.startSession(agent))
    const store = await openPostgres({ connectionString: url })
    const beats = setInterval(() => void store.leases.renew(session.id, holder, 60_000), 200)
    const { code, out } = await batonOn(url)('recover', '--wait')
    clearInterval(beats)
    await store[Symbol.asyncDispose]()
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining(`${session.id}  until `) })
  })

  it('resumes what it can run, and leaves the rest to a process that can', async () => {
    const ours = await leaveBehind('command', 'ours')
    const theirs = await leaveBehind('codex', 'theirs')
    const odd = await leaveBehind('homemade', 'odd')
    await lapsed()
    const { code, out, err } = await recover(['--command', AGENT_COMMAND])
    expect(code).toBe(0)
    expect(out.trim().split('\n').slice(1).toSorted()).toEqual(
      [
        `${ours.id}  resumed: completed`,
        `${theirs.id}  left: it runs on codex (--runtime codex)`,
        `${odd.id}  left: it runs on homemade`,
      ].toSorted(),
    )
    expect(err).toMatch(/turn 1 .* edit_file/)
    expect(await Promise.all([ours, theirs, odd].map(({ id }) => stateOf(id)))).toEqual([
      'completed',
      'active',
      'active',
    ])
  })

  it('leaves everything that there is no runtime for here, unless it is to be failed', async () => {
    const left = await leaveBehind('claude_code', 'left')
    await lapsed()
    expect(await batonOn(url)('recover')).toMatchObject({
      code: 0,
      out: expect.stringContaining('left: it runs on claude_code (--runtime claude)'),
    })
    expect(await stateOf(left.id)).toBe('active')
    const { code, out } = await batonOn(url)('recover', '--fail', '--json')
    expect({ code, said: JSON.parse(out) as unknown }).toMatchObject({
      code: 0,
      said: { recovered: [{ sessionId: left.id, type: 'failed' }] },
    })
    expect(await stateOf(left.id)).toBe('failed')
  })

  it('names the flag that resumes a program of the person’s own', async () => {
    const left = await leaveBehind('command', 'program')
    await lapsed()
    expect(await recover([])).toMatchObject({
      code: 0,
      out: expect.stringContaining(`${left.id}  left: it runs on command (--command, with the program that it ran)`),
    })
    expect(await recover(['--command', AGENT_COMMAND])).toMatchObject({
      code: 0,
      out: expect.stringContaining(`${left.id}  resumed: completed`),
    })
  })

  it('ends with 1 when what it went on with did not complete', async () => {
    await leaveBehind('command', 'broken')
    await lapsed()
    const { code, out, err } = await recover(['--command', AGENT_COMMAND], { SCRIPT: 'fail:3' })
    expect(code).toBe(1)
    expect(out).toMatch(/resumed: failed: The command ended with exit code 3/)
    expect(err).toMatch(/^baton: 1 run did not complete\.$/m)
  })

  it('is cancelled by Ctrl-C, and no agent is left', async () => {
    const session = await leaveBehind('command', 'stopped')
    await lapsed()
    const pids = join(folder(), 'pids')
    const environment = { BATONPASS_DATABASE_URL: url, SCRIPT: 'turn:10 wait', PID_FILE: pids }
    const running = spawnBaton(['recover', '--command', AGENT_COMMAND], environment)
    await until(() => existsSync(pids), 'an agent')
    running.child.kill('SIGINT')
    expect((await running.ended).code).toBe(130)
    expect(alive(pids)).toEqual([])
    expect(await stateOf(session.id)).toBe('paused')
  })

  it('finishes once, however many recover at the same time', async () => {
    const session = await leaveBehind('command', 'contended')
    await lapsed()
    const told = await Promise.all([1, 2, 3].map(() => recover(['--command', AGENT_COMMAND, '--json'])))
    const became = told.flatMap(({ out }) => (JSON.parse(out) as { recovered: { type: string }[] }).recovered)
    expect(became.filter(({ type }) => type === 'resumed')).toHaveLength(1)
    expect(told.map(({ code }) => code)).toEqual([0, 0, 0])
    expect(await stateOf(session.id)).toBe('completed')
  })

  it.each([
    [['--fail', '--runtime', 'codex'], '--fail and --runtime exclude each other'],
    [['--runtime', 'command'], '--runtime command goes with --command'],
    [['it'], '"it" is one word too many'],
  ])('refuses %j', async (args, problem) => {
    const { code, err } = await batonOn(url)('recover', ...args)
    expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining(problem) })
  })
})
