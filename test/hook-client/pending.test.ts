import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { pendingFile } from '../../src/adapters/place/workspace.ts'
import { FakeService } from '../support/fake-service.ts'
import { expectInTime, folder, problems, runHook, SESSION, spooled } from './spawned-hook.ts'

const LATER = '2999-01-01T00:00:00.000Z'

/** A workspace with a document that waits in it. */
const waitingIn = (dir: string, change: object = {}) => {
  const cwd = realpathSync(folder())
  const document = 'Half is done.'
  const pending = {
    ...{
      v: 1,
      workspace: cwd,
      document,
      providerSessionId: 'another',
      agentName: 'claude-code',
      path: '/x.md',
      writtenAt: LATER,
      expiresAt: LATER,
    },
    text: `You continue: ${document}`,
    ...change,
  }
  mkdirSync(join(dir, 'pending'), { mode: 0o700 })
  writeFileSync(join(dir, pendingFile(cwd)), JSON.stringify(pending), { mode: 0o600 })
  return {
    cwd,
    start: (more: object = {}, run: object = {}) =>
      runHook(dir, 'session-start', { input: { session_id: SESSION, cwd, source: 'startup', ...more }, ...run }),
  }
}

const contextIn = (out: string): unknown =>
  out === '' ? undefined : JSON.parse(out).hookSpecificOutput.additionalContext

describe('a document that waits in the workspace', () => {
  it('is given to the next session while no service runs, and waits on', async () => {
    const dir = folder()
    const { start, cwd } = waitingIn(dir)
    for (const source of ['startup', 'clear', undefined]) {
      const ended = await start({ source })
      expectInTime(ended)
      expect(contextIn(ended.out)).toBe('You continue: Half is done.')
    }
    expect(contextIn((await start({}, { flags: ['--runtime', 'codex'] })).out)).toBe('You continue: Half is done.')
    mkdirSync(join(cwd, '.git'))
    mkdirSync(join(cwd, 'a'))
    symlinkSync(cwd, join(dir, 'link'))
    for (const inside of [join(cwd, 'a'), join(dir, 'link')])
      expect(contextIn((await start({ cwd: inside })).out)).toBe('You continue: Half is done.')
    expect(spooled(dir)).toHaveLength(6)
  })

  it('is the service’s to give, where it answers', async () => {
    const dir = folder()
    await using service = await FakeService.start(dir)
    const { start } = waitingIn(dir)
    expect((await start()).out).toBe('')
    service.answer = () => ({ inject: 'the service says' })
    expect(contextIn((await start()).out)).toBe('the service says')
    service.manner = 'refuses'
    expect(contextIn((await start()).out)).toBe('You continue: Half is done.')
  })

  it.each([
    ['to one that is resumed', { source: 'resume' }, {}],
    ['to one that was compacted', { source: 'compact' }, {}],
    ['to a fork', { source: 'fork' }, {}],
    ['to one in another folder', { cwd: '/' }, {}],
    ['to one in a folder that is gone', { cwd: '/nowhere/at/all' }, {}],
    ['to one that names no folder', { cwd: 7 }, {}],
    ['to a subagent', { agent_id: 'a1' }, {}],
    ['after its time', {}, { expiresAt: '2020-01-01T00:00:00.000Z' }],
    ['to the session that wrote it', {}, { providerSessionId: SESSION }],
    ['if it is another version', {}, { v: 2 }],
    ['if it is of another workspace', {}, { workspace: '/elsewhere' }],
    ['if its time is none', {}, { expiresAt: 'soon' }],
  ])('is not given %s', async (_, more, change) => {
    const dir = folder()
    const ended = await waitingIn(dir, change).start(more)
    expectInTime(ended)
    expect(ended.out).toBe('')
  })

  it('has a mark in the status line of every session there, as long as it waits', async () => {
    const dir = folder()
    const { cwd } = waitingIn(dir)
    const line = async (input: object) =>
      (await runHook(dir, 'statusline', { input: { session_id: SESSION, ...input } })).out
    expect(await line({ cwd })).toContain('a document waits here')
    expect(await line({ cwd: '/' })).not.toContain('a document waits here')
    rmSync(join(dir, pendingFile(cwd)))
    expect(await line({ cwd })).not.toContain('a document waits here')
  })

  it('is said to the person as well', async () => {
    const { start } = waitingIn(folder())
    const { systemMessage } = JSON.parse((await start()).out) as { readonly systemMessage?: string }
    expect(systemMessage).toContain('this session begins with the document that "claude-code" left here')
  })

  it('is given back to the session that wrote it when that was cleared', async () => {
    const { start } = waitingIn(folder(), { providerSessionId: SESSION })
    expect(contextIn((await start({ source: 'clear' })).out)).toBe('You continue: Half is done.')
  })

  it('that is damaged, a link or a pipe is done without', async () => {
    const dir = folder()
    const { start, cwd } = waitingIn(dir)
    const file = join(dir, pendingFile(cwd))
    writeFileSync(file, '{"v":1')
    expect((await start()).out).toBe('')
    execFileSync('rm', [file])
    symlinkSync('/etc/passwd', file)
    expect((await start()).out).toBe('')
    execFileSync('rm', [file])
    execFileSync('mkfifo', [file])
    expectInTime(await start())
    expect(
      problems(dir).filter((problem) => problem.startsWith('the pending document could not be read')),
    ).toHaveLength(3)
    expect(problems(dir).join()).not.toContain('root:')
  })
})

describe('a session that the tools of another one start', () => {
  it('is told so by its environment, and is given nothing', async () => {
    const dir = folder()
    const { start } = waitingIn(dir)
    const file = join(folder(), 'variables.sh')
    const first = await start({}, { environment: { CLAUDE_ENV_FILE: file } })
    expect(contextIn(first.out)).toBe('You continue: Half is done.')
    const variables = readFileSync(file, 'utf8')
    expect(variables).toBe(`export BATONPASS_WITHIN='${SESSION}'\n`)
    const inside = await start({ session_id: 'inner' }, { environment: { BATONPASS_WITHIN: SESSION } })
    expect(inside.out).toBe('')
    expect(spooled(dir).at(-1)?.payload).toMatchObject({ session_id: 'inner', within: SESSION })
    const same = await start({}, { environment: { BATONPASS_WITHIN: SESSION } })
    expect(contextIn(same.out)).toBe('You continue: Half is done.')
  })

  it('is not hindered by a file for variables that cannot be written', async () => {
    const dir = folder()
    const { start, cwd } = waitingIn(dir)
    const ended = await start({}, { environment: { CLAUDE_ENV_FILE: join(cwd, 'gone', 'file') } })
    expectInTime(ended)
    expect(contextIn(ended.out)).toBe('You continue: Half is done.')
  })
})

describe('a sentence for the person', () => {
  it('is printed where a person hears it', async () => {
    const dir = folder()
    await using service = await FakeService.start(dir)
    service.answer = () => ({ notice: 'It was taken up by another session.' })
    for (const event of ['stop', 'user-prompt-submit', 'session-start']) {
      const { out } = await runHook(dir, event, { input: { session_id: SESSION } })
      expect(JSON.parse(out)).toEqual({ systemMessage: 'It was taken up by another session.' })
    }
    expect((await runHook(dir, 'session-end', { input: { session_id: SESSION } })).out).toBe('')
  })
})
