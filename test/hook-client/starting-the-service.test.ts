import { existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { folder, problems, runHook, SESSION, spooled } from './spawned-hook.ts'

interface Start {
  readonly args: readonly string[]
  readonly environment: readonly string[]
  readonly cwd: string
}

const INPUT = { session_id: SESSION, source: 'startup' }

const starts = (dir: string): readonly Start[] =>
  existsSync(join(dir, 'starts.log'))
    ? readFileSync(join(dir, 'starts.log'), 'utf8')
        .split('\n')
        .slice(0, -1) // whole lines
        .map((line) => JSON.parse(line) as Start)
    : []

/** It is detached, so nothing else tells when it was started. */
const started = async (dir: string): Promise<readonly Start[]> => {
  while (starts(dir).length === 0) await pause(20)
  return starts(dir)
}

const old = (path: string): void => utimesSync(path, new Date(Date.now() - 61_000), new Date(Date.now() - 61_000))

describe('where no service runs, a hook', () => {
  it('starts one, on its own folder, with little of the environment and a log', async () => {
    const dir = folder()
    const environment = {
      DATABASE_URL: 'postgres://x',
      DATABASE_URL_FILE: '/x',
      PGHOST: 'x',
      ANTHROPIC_API_KEY: 'x',
      NODE_OPTIONS: '',
      LANG: 'C',
    }
    await runHook(dir, 'session-start', { input: INPUT, environment })
    const [start] = await started(dir)
    expect(start?.args).toEqual(['--data-dir', dir, '--idle-timeout', '30m', '--started-by-hook'])
    expect(start?.cwd).toBe(dir)
    for (const name of ['DATABASE_URL', 'DATABASE_URL_FILE', 'PGHOST', 'ANTHROPIC_API_KEY', 'NODE_OPTIONS'])
      expect(start?.environment).not.toContain(name)
    for (const name of ['PATH', 'HOME', 'LANG']) expect(start?.environment).toContain(name)
    while (readFileSync(join(dir, 'service.log'), 'utf8') === '') await pause(20)
    expect(readFileSync(join(dir, 'service.log'), 'utf8')).toBe('the service says hello\n')
  })

  it('starts one on the server that its flags name', async () => {
    const dir = folder()
    await runHook(dir, 'stop', { input: INPUT, flags: ['--database-file', '/run/db', '--schema=mine'] })
    const [start] = await started(dir)
    expect(start?.args).toEqual([
      '--data-dir',
      dir,
      '--database-file',
      '/run/db',
      '--schema',
      'mine',
      '--idle-timeout',
      '30m',
      '--started-by-hook',
    ])
  })

  it('starts none for what need not be kept', async () => {
    const dir = folder()
    const context_window = { used_percentage: 42 }
    await runHook(dir, 'statusline', { input: { ...INPUT, context_window } })
    await runHook(dir, 'post-tool-use', { input: INPUT })
    expect(existsSync(join(dir, 'service.start'))).toBe(false)
  })

  it('starts one a minute, of many that come at once', async () => {
    const dir = folder()
    await Promise.all(Array.from({ length: 8 }, () => runHook(dir, 'session-start', { input: INPUT })))
    await started(dir)
    await runHook(dir, 'stop', { input: INPUT })
    expect(starts(dir)).toHaveLength(1)
    expect(spooled(dir)).toHaveLength(9)
    expect(problems(dir)).toEqual([])
    old(join(dir, 'service.start'))
    await Promise.all(Array.from({ length: 4 }, () => runHook(dir, 'stop', { input: INPUT })))
    while (starts(dir).length < 2) await pause(20)
    expect(starts(dir)).toHaveLength(2)
  })

  it('is not kept from it for ever by one that was killed half-way', async () => {
    const dir = folder()
    const claim = join(dir, 'service.start.0-0')
    writeFileSync(claim, '')
    await runHook(dir, 'stop', { input: INPUT })
    expect(existsSync(join(dir, 'service.start'))).toBe(false)
    old(claim)
    await runHook(dir, 'stop', { input: INPUT })
    await runHook(dir, 'stop', { input: INPUT })
    expect(await started(dir)).toHaveLength(1)
  })

  it('that cannot start one still ends well, and says why', async () => {
    const dir = folder()
    mkdirSync(join(dir, 'service.log'))
    const ended = await runHook(dir, 'stop', { input: INPUT })
    expect(ended).toMatchObject({ code: 0, out: '' })
    expect(problems(dir)).toEqual(['the service could not be started: EISDIR'])
  })
})
