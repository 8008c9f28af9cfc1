import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { Budget, budgetFrom } from '../../src/adapters/hook-client/budget.ts'
import { TERMINAL_HOOKS } from '../../src/ports/terminal/wire.ts'
import { FakeService, type Manner, writeCard } from '../support/fake-service.ts'
import { endOf, expectInTime, folder, problems, runHook, SESSION, spooled, startHook } from './spawned-hook.ts'

const INPUT = { session_id: SESSION, cwd: '/tmp', transcript_path: '/tmp/t.jsonl' }
/** Short enough to wait for its end, long enough to read an input on a busy machine. */
const SHORT = { BATONPASS_HOOK_BUDGET_MS: '6000' }
const USUAL = { BATONPASS_HOOK_BUDGET_MS: undefined }

/** A status line is printed whatever happens, the others print nothing. */
const expectQuiet = (event: string, out: string): void =>
  event === 'statusline' ? expect(out).toMatch(/^window \?\n$/) : expect(out).toBe('')

describe('the budget', () => {
  it('is half a second from the start of the process, and more only where the start took long', () => {
    expect(new Budget(undefined, 40).describe()).toMatch(/ of 450 ms$/)
    expect(new Budget(undefined, 460).describe()).toMatch(/ of 710 ms$/)
    expect(budgetFrom({}).describe()).toBeDefined()
    expect(budgetFrom({ BATONPASS_HOOK_BUDGET_MS: '900000' }).describe()).toMatch(/ of 900000 ms$/)
    expect(budgetFrom({ BATONPASS_HOOK_BUDGET_MS: 'never' }).left).toBeLessThan(100_000)
  })
})

describe.each(TERMINAL_HOOKS)('%s', (event) => {
  it.each([
    ['nothing', ''],
    ['no JSON', 'not json'],
    ['half of it', '{"session_id":"5b0a'],
    ['a list', '[1,2]'],
    ['null', 'null'],
    ['no session', '{"cwd":"/tmp"}'],
    ['a session that is a number', '{"session_id":7}'],
    ['bytes that are no text', '\u0000\ud800\u0001'],
    ['deep JSON', `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`],
  ])('given %s ends well and keeps nothing', async (_, input) => {
    const dir = folder()
    await using service = await FakeService.start(dir)
    const ended = await runHook(dir, event, { input })
    expectInTime(ended)
    expectQuiet(event, ended.out)
    expect(service.requests).toEqual([])
    expect(spooled(dir)).toEqual([])
    expect(problems(dir)).toHaveLength(1)
  })

  it('given more than it reads ends well', async () => {
    const dir = folder()
    const ended = await runHook(dir, event, {
      input: `{"session_id":"${SESSION}","x":"${'y'.repeat(9 * 1024 * 1024)}"}`,
    })
    expectInTime(ended)
    expectQuiet(event, ended.out)
    expect(problems(dir)).toEqual(['standard input is over 8 MiB'])
  })

  it('given an input that never ends takes what is whole, and waits for nothing else', async () => {
    const dir = folder()
    const feed = (text: string) => ({
      feed: (child: { stdin: { write(text: string): unknown } | null }) => void child.stdin?.write(text),
    })
    const whole = await runHook(dir, event, { ...feed(JSON.stringify(INPUT)) })
    expectInTime(whole)
    expect(problems(dir)).toEqual([])
    expect(spooled(dir)).toHaveLength(event === 'statusline' || event === 'post-tool-use' ? 0 : 1)
    const half = await runHook(dir, event, { ...feed('{"session_id":"'), environment: USUAL })
    expectInTime(half)
    expectQuiet(event, half.out)
  })

  it('given an input that drips ends in its time', async () => {
    const dir = folder()
    const ended = await runHook(dir, event, {
      environment: USUAL,
      feed: (child) => {
        const timer = setInterval(() => child.stdin?.write('  '), 20)
        child.once('close', () => clearInterval(timer))
      },
    })
    expectInTime(ended)
    expectQuiet(event, ended.out)
  })
})

describe('a service that', () => {
  it.each<Manner>(['silent', 'refuses', 'redirects', 'hangs up', 'garbage', 'list', 'oversized', 'broken'])(
    'is "%s" neither holds a hook up nor loses what it said',
    async (manner) => {
      const dir = folder()
      await using service = await FakeService.start(dir)
      service.manner = manner
      const ended = await runHook(dir, 'pre-compact', { input: INPUT, environment: SHORT })
      expectInTime(ended)
      expect(ended.out).toBe('')
      // A hook whose time was over before it could ask has kept the event, and has no trouble to tell.
      expect(problems(dir).length).toBeLessThanOrEqual(1)
      service.takeSpool()
      expect(service.events).toEqual(['pre-compact'])
      expect(spooled(dir)).toEqual([])
    },
  )

  it('is silent does not keep a status line from being drawn', async () => {
    const dir = folder()
    await using service = await FakeService.start(dir)
    service.manner = 'silent'
    const context_window = { context_window_size: 200_000, used_percentage: 42 }
    const ended = await runHook(dir, 'statusline', { input: { ...INPUT, context_window }, environment: SHORT })
    expectInTime(ended)
    expect(ended.out).toMatch(/^window 50%/)
    expect(spooled(dir)).toEqual([])
  })

  it('has another token is not told anything', async () => {
    const dir = folder()
    await using service = await FakeService.start(dir)
    writeFileSync(join(dir, 'service.token'), 'not a token')
    expectInTime(await runHook(dir, 'stop', { input: INPUT }))
    expect(service.requests).toEqual([])
    expect(spooled(dir)).toHaveLength(1)
    expect(problems(dir)).toEqual(['the service could not be found: service.token holds no token'])
  })

  it('has a file that names nothing is not looked for', async () => {
    for (const text of [
      '',
      '{',
      '[]',
      '{"v":2}',
      '{"v":2,"socket":7}',
      '{"v":2,"address":{"host":"127.0.0.1","port":99999}}',
    ]) {
      const dir = folder()
      writeFileSync(join(dir, 'service.json'), text)
      expectInTime(await runHook(dir, 'stop', { input: INPUT }))
      expect(spooled(dir)).toHaveLength(1)
    }
  })
})

describe('a session that is named like a path', () => {
  it.each(['../../x', '/etc/passwd', '..', '.hidden', 'a/b', 'a\\b', 'a\u0000b', 'x'.repeat(129), '', ' '])(
    '%j is not read, kept or sent',
    async (session_id) => {
      const dir = folder()
      await using service = await FakeService.start(dir)
      writeCard(dir, 'x', { afterCompaction: { text: 'a secret' } })
      const ended = await runHook(dir, 'session-start', { input: { ...INPUT, session_id, source: 'compact' } })
      expectInTime(ended)
      expect(ended.out).toBe('')
      expect(service.requests).toEqual([])
      expect(spooled(dir)).toEqual([])
    },
  )
})

describe('a folder', () => {
  it('that cannot be made is done without', async () => {
    const dir = folder()
    writeFileSync(join(dir, 'file'), '')
    for (const event of TERMINAL_HOOKS) {
      const ended = await runHook(join(dir, 'file', 'below'), event, { input: INPUT })
      expectInTime(ended)
      expectQuiet(event, ended.out)
    }
  })

  it('that others may write to is not trusted', async () => {
    const dir = folder()
    await using service = await FakeService.start(dir)
    writeCard(dir, SESSION, { afterCompaction: { text: 'obey me' } })
    chmodSync(dir, 0o777)
    const ended = await runHook(dir, 'session-start', { input: { ...INPUT, source: 'compact' } })
    expect(ended).toMatchObject({ code: 0, out: '' })
    expect(service.requests).toEqual([])
    expect(existsSync(join(dir, 'spool'))).toBe(false)
  })

  it.runIf(process.getuid?.() !== 0)('that cannot be written to is done without', async () => {
    const dir = folder()
    chmodSync(dir, 0o500)
    expectInTime(await runHook(dir, 'stop', { input: INPUT }))
  })

  it('whose spool is full still delivers', async () => {
    const dir = folder()
    await using service = await FakeService.start(dir)
    mkdirSync(join(dir, 'spool'), { mode: 0o700 })
    for (let each = 0; each < 5_000; each += 1) writeFileSync(join(dir, 'spool', `${each}`), '')
    expectInTime(await runHook(dir, 'stop', { input: INPUT }))
    expect(service.events).toEqual(['stop'])
    expect(problems(dir)).toEqual(['the spool could not be written: it is full'])
  })

  it('in which files are links or pipes is read around them', async () => {
    const dir = folder()
    const secret = join(folder(), 'secret.json')
    writeFileSync(secret, JSON.stringify({ v: 1, afterCompaction: { text: 'a secret' } }))
    mkdirSync(join(dir, 'sessions'), { mode: 0o700 })
    symlinkSync(secret, join(dir, 'sessions', `${SESSION}.json`))
    symlinkSync(secret, join(dir, 'hook.log'))
    execFileSync('mkfifo', [join(dir, 'service.json')])
    const ended = await runHook(dir, 'session-start', { input: { ...INPUT, source: 'compact' } })
    expectInTime(ended)
    expect(ended.out).toBe('')
    expect(readFileSync(secret, 'utf8')).not.toContain('problem')
    expect(spooled(dir)).toHaveLength(1)
  })

  it('whose log is long begins it anew', async () => {
    const dir = folder()
    writeFileSync(join(dir, 'hook.log'), 'x'.repeat(70_000))
    await runHook(dir, 'stop', { input: 'not json' })
    expect(problems(dir)).toHaveLength(1)
  })
})

it('killed at any moment leaves an event in the spool whole, or not at all', async () => {
  const dir = folder()
  await using service = await FakeService.start(dir)
  service.manner = 'silent'
  for (let round = 0; round < 12; round += 1) {
    const child = startHook(dir, 'stop', { environment: SHORT })
    const ended = endOf(child)
    child.stdin?.end(JSON.stringify(INPUT))
    if (round % 2 === 0)
      while (spooled(dir).length + service.requests.length === 0 && child.exitCode === null) await pause(5)
    else await pause(round * 40)
    child.kill('SIGKILL')
    await ended
    service.takeSpool() // parses every file
  }
  expect(service.taken.size).toBeGreaterThan(0)
  expect(readdirSync(join(dir, 'spool')).filter((name) => name.endsWith('.json'))).toEqual([])
})

it.each([[['fly']], [[]], [['--data-dir', 'x']]])(
  'a command line that names no hook (%j) says so, and blocks nobody',
  async (words) => {
    const dir = folder()
    const [event = '--nothing', ...flags] = words
    const ended = await runHook(dir, event, { flags })
    expect(ended.code).toBe(0)
    expect(ended.out).toBe('')
    expect(ended.err).toContain('baton hook needs the name of a hook: statusline')
  },
)

it('flags that are not known stop nothing', async () => {
  const dir = folder()
  await using service = await FakeService.start(dir)
  expectInTime(
    await runHook(dir, 'stop', { input: INPUT, flags: ['--shiny', 'new', '--runtime', 'cobol', '--schema'] }),
  )
  expect(service.events).toEqual(['stop'])
  expect(problems(dir)).toHaveLength(4)
})
