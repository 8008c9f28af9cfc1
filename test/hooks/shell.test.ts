import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { hookSession, NodeHookRunner } from '../../src/entry/hooks.ts'
import { isRunning, node, shell, threshold } from './samples.ts'

const runner = new NodeHookRunner()

const folder = (): string => {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'hooks-')))
  onTestFinished(() => rmSync(path, { recursive: true, force: true, maxRetries: 10 }))
  return path
}

const inWorkspace = (workspace: object) => ({
  ...threshold,
  session: hookSession({ sessionId: 's-1', agentName: 'claude-code', workspace }),
})

/** The pids a hook wrote, one on each line. */
const pidsIn = (output: string): readonly number[] => output.trim().split('\n').map(Number)

describe('a command', () => {
  it('is told the payload on stdin, and has its output kept', async () => {
    const result = await runner.run(shell(['cat'], { name: 'copy' }), threshold)
    expect(result).toMatchObject({ ok: true, name: 'copy', type: 'shell', exitCode: 0 })
    expect(JSON.parse(result.output)).toStrictEqual(threshold)
    expect(result.durationMs).toBeGreaterThanOrEqual(0)
  })

  it('is read by a shell when it is a text, and by none when it is a list', async () => {
    expect((await runner.run(shell('echo $((1 + 1)) | tr 2 3'), threshold)).output).toBe('3\n')
    expect((await runner.run(shell(['echo', '$((1 + 1)) | tr 2 3; $(id)']), threshold)).output).toBe(
      '$((1 + 1)) | tr 2 3; $(id)\n',
    )
  })

  it('never sees the payload in its arguments or its variables', async () => {
    const odd = { ...threshold, original_prompt: '$(touch /nowhere); `id`' }
    const { output } = await runner.run(shell('env; tr "\\0" "\\n" < /proc/self/cmdline; echo "$0 $*"'), odd)
    expect(output).not.toContain('touch')
  })

  it('sees few variables, and those that were named', async () => {
    const environment = { PATH: process.env.PATH, LC_ALL: 'C', API_KEY: 'k-123456', OTHER: 'other', HOME: '/home/x' }
    const names = `for (const name of Object.keys(process.env)) console.log(name)`
    const few = await new NodeHookRunner({ environment }).run(node(names), threshold)
    expect(few.output.trim().split('\n').toSorted()).toEqual(['BATONPASS_HOOK_PAYLOAD_FILE', 'HOME', 'LC_ALL', 'PATH'])
    const more = new NodeHookRunner({ environment, passVariables: ['API_KEY'] })
    expect((await more.run(node(names), threshold)).output).toContain('API_KEY')
    const printed = await more.run(shell('echo "$API_KEY"; echo "$API_KEY" >&2; exit 1'), threshold)
    expect(printed.output).toBe('[secret]\n')
    expect(JSON.stringify(printed)).not.toContain('k-123456')
  })

  it('runs in the worktree, else in the working directory, else where we are', async () => {
    const [worktreePath, workingDirectory] = [folder(), folder()]
    const pwd = async (workspace: object) => (await runner.run(shell('pwd -P'), inWorkspace(workspace))).output.trim()
    expect(await pwd({ worktreePath, workingDirectory })).toBe(worktreePath)
    expect(await pwd({ workingDirectory })).toBe(workingDirectory)
    expect(await pwd({})).toBe(realpathSync(process.cwd()))
  })

  it('fails without its directory', async () => {
    const result = await runner.run(shell('true'), inWorkspace({ workingDirectory: join(folder(), 'gone') }))
    expect(result).toMatchObject({ ok: false, error: { code: 'hook.not_started' } })
    expect(JSON.stringify(result)).toContain('working directory does not exist')
  })

  it('fails with its exit code and what it wrote to stderr', async () => {
    const result = await runner.run(shell('echo so far; echo went wrong >&2; exit 7'), threshold)
    expect(result).toMatchObject({ ok: false, exitCode: 7, output: 'so far\n', errorOutput: 'went wrong\n' })
    expect(result).toMatchObject({ error: { code: 'hook.exit', message: 'It ended with exit code 7.' } })
    const killed = await runner.run(shell('kill -9 $$'), threshold)
    expect(killed).toMatchObject({ ok: false, error: { message: 'It was ended by SIGKILL.' } })
  })

  it('fails when it is not found, or cannot be started, and nothing crashes', async () => {
    expect(await runner.run(shell(['no-such-program-here']), threshold)).toMatchObject({
      ok: false,
      error: { code: 'hook.not_found' },
    })
    expect(await runner.run(shell('no-such-program-here'), threshold)).toMatchObject({ ok: false, exitCode: 127 })
    expect(await runner.run(shell([process.cwd()]), threshold)).toMatchObject({
      ok: false,
      error: { code: 'hook.not_started', message: 'The command could not be started (EACCES).' },
    })
    expect(await runner.run(shell(['echo', 'a\0b']), threshold)).toMatchObject({ ok: false })
  })

  it('need not read what it is told, however long it is', async () => {
    const long = { ...threshold, original_prompt: 'x'.repeat(2_000_000) }
    expect(await runner.run(shell('echo done'), long)).toMatchObject({ ok: true, output: 'done\n' })
  })

  it('may write without end: the beginning and the last line are kept', async () => {
    const result = await runner.run(shell('echo first; yes "é" | head -c 5000000; echo; echo continue'), threshold)
    expect(result.ok).toBe(true)
    expect(result.output.length).toBeLessThan(70_000)
    expect(result.output).toMatch(/^first\n/)
    expect(result.output).toMatch(/\d+ bytes left out/)
    expect(result.output).toMatch(/\ncontinue\n$/)
    expect(result.output).not.toContain('\uFFFD')
  })
})

describe('the end of a command', () => {
  it('comes with its timeout', async () => {
    const result = await runner.run(shell('echo begun; sleep 60', { timeoutMs: 200 }), threshold)
    expect(result).toMatchObject({ ok: false, output: 'begun\n', error: { code: 'hook.timeout' } })
    expect(result.durationMs).toBeLessThan(200 + 3_000)
  })

  it('comes to one that ignores TERM, and to its children, within three seconds', async () => {
    const stubborn = 'trap "" TERM; echo $$; (trap "" TERM; sleep 60) & echo $!; sleep 60 & echo $!; wait; sleep 60'
    const result = await runner.run(shell(stubborn, { timeoutMs: 300 }), threshold)
    expect(result).toMatchObject({ ok: false, error: { code: 'hook.timeout' } })
    expect(result.durationMs).toBeLessThan(60_000)
    const pids = pidsIn(result.output)
    expect(pids).toHaveLength(3)
    expect(await Promise.all(pids.map(isRunning))).toEqual([false, false, false])
  })

  it('lets it put things in order when it is asked', async () => {
    const orderly = `process.on('SIGTERM', () => { console.log('tidied'); process.exit(0) }); setTimeout(() => {}, 60_000); console.log('up')`
    const result = await runner.run(node(orderly, { timeoutMs: 800 }), threshold)
    expect(result).toMatchObject({ ok: false, output: 'up\ntidied\n', error: { code: 'hook.timeout' } })
  })

  it('is the end of what it left in the background, which holds its pipes', async () => {
    const result = await runner.run(shell('sleep 60 & echo $!'), threshold)
    expect(result.ok).toBe(true)
    expect(result.durationMs).toBeLessThan(60_000)
    expect(await Promise.all(pidsIn(result.output).map(isRunning))).toEqual([false])
  })

  it('does not wait for a process that fled and holds its pipes', async () => {
    const flee = `const child = require('node:child_process').spawn('sleep', ['60'], { detached: true, stdio: 'inherit' }); console.log(child.pid); child.unref()`
    const result = await runner.run(node(flee), threshold)
    for (const pid of pidsIn(result.output)) process.kill(pid, 'SIGKILL')
    expect(result).toMatchObject({ ok: true, exitCode: 0 })
    expect(result.durationMs).toBeLessThan(60_000)
  })

  it('comes when it is no longer wanted, before or after it began', async () => {
    const before = await runner.run(shell('echo ran'), threshold, { signal: AbortSignal.abort() })
    expect(before).toMatchObject({ ok: false, output: '', error: { code: 'hook.cancelled' } })
    const controller = new AbortController()
    const running = runner.run(shell('echo $$; sleep 60'), threshold, { signal: controller.signal })
    await pause(300)
    controller.abort()
    const after = await running
    expect(after).toMatchObject({ ok: false, error: { code: 'hook.cancelled' } })
    expect(await Promise.all(pidsIn(after.output).map(isRunning))).toEqual([false])
  })
})
