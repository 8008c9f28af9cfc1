import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type CommandRuntimeOptions, commandRuntime } from '../../src/adapters/runtime/command-runtime.ts'
import { windowReaders } from '../../src/main/runtimes.ts'
import type { RuntimeStep } from '../../src/ports/agent/agent-runtime.ts'
import { alive, until } from '../cli/spawned.ts'

const WINDOW_READERS = await windowReaders()

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'batonpass-command-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))

const INIT = '{"type":"system","subtype":"init","session_id":"s-1","model":"claude-haiku-4-5"}'
const NEVER = new AbortController().signal

const launch = (command: CommandRuntimeOptions['command'], more: object = {}, options: object = {}) =>
  commandRuntime({ command, readers: WINDOW_READERS, ...options }).start({
    prompt: 'Fix it',
    signal: NEVER,
    workspace: { workingDirectory: folder },
    ...more,
  })

const all = async (steps: AsyncIterable<RuntimeStep<unknown>>): Promise<readonly RuntimeStep<unknown>[]> => {
  const heard: RuntimeStep<unknown>[] = []
  for await (const step of steps) heard.push(step)
  return heard
}

const endOf = async (...args: Parameters<typeof launch>) => (await all(launch(...args).steps)).at(-1)?.end

describe('a program as an agent', () => {
  it('is named by its own word, and says what it means', async () => {
    const said = '{"type":"assistant","session_id":"s-1","message":{"content":[{"type":"text","text":"Grüße ✓"}]}}'
    const [init, answer, end] = await all(launch(`echo '${INIT}'; echo noise; printf '%s' '${said}'`).steps)
    expect(init).toMatchObject({ providerSessionId: 's-1', events: [{ type: 'model', model: 'claude-haiku-4-5' }] })
    expect(answer?.texts).toEqual([{ role: 'assistant', text: 'Grüße ✓' }])
    expect(answer).not.toHaveProperty('providerSessionId')
    expect(end).toEqual({ events: [], texts: [], end: { type: 'idle' } })
  })

  it('is named by its process where it has no word for it', async () => {
    const [turn] = await all(launch(`echo '{"type":"turn.started"}'`).steps)
    expect(turn?.providerSessionId).toMatch(/^process \d+$/)
  })

  it('is told the prompt, where the work is done, with little of our environment', async () => {
    process.env.OUR_SECRET = 'hush'
    await all(launch(`cat > told; env > env; echo '${INIT}'`, { workspace: { worktreePath: folder } }).steps)
    delete process.env.OUR_SECRET
    expect(readFileSync(join(folder, 'told'), 'utf8')).toBe('Fix it')
    expect(readFileSync(join(folder, 'env'), 'utf8')).toMatch(/^PATH=/m)
    expect(readFileSync(join(folder, 'env'), 'utf8')).not.toMatch(/hush/)
    await all(launch(`env > env; echo '${INIT}'`, {}, { environment: { PATH: process.env.PATH, MINE: 'yes' } }).steps)
    expect(readFileSync(join(folder, 'env'), 'utf8')).toMatch(/^MINE=yes$/m)
  })

  it('hands over and delegates with a line each, which are no messages', async () => {
    const handoff = '{"type":"batonpass_handoff","to":"coder","reason":"Planned.","more":1}'
    const thread = '{"type":"batonpass_thread","to":"coder","task":"Write the parser","document":"Like this."}'
    const steps = await all(launch(`echo '${INIT}'; echo '${handoff}'; echo '${thread}'`).steps)
    expect(steps.slice(1, 3)).toEqual([
      { events: [], texts: [], asksTransfer: { to: 'coder', reason: 'Planned.' } },
      { events: [], texts: [], asksThreads: [{ to: 'coder', task: 'Write the parser', document: 'Like this.' }] },
    ])
  })

  it('need not read its prompt, and may be a list of words', async () => {
    const prompt = 'x'.repeat(1_000_000)
    expect(await endOf(['echo', INIT], { prompt })).toEqual({ type: 'idle' })
  })

  it('fails in words of its own', async () => {
    expect(await endOf(`echo '${INIT}'; echo oh dear >&2; exit 7`)).toEqual({
      type: 'failed',
      message: 'The command ended with exit code 7. It said: oh dear',
    })
    expect(await endOf('kill -9 $$')).toEqual({ type: 'failed', message: 'The command was ended by SIGKILL.' })
    expect(await endOf(['no-such-program'])).toEqual({ type: 'failed', message: 'The command was not found.' })
    expect(await endOf('true')).toMatchObject({ message: expect.stringMatching(/no line of a known format/) })
    const gone = join(folder, 'gone')
    expect(await endOf('true', { workspace: { workingDirectory: gone } })).toMatchObject({
      message: `There is no folder ${gone} to work in.`,
    })
  })

  it('keeps only the end of what it complains about', async () => {
    const end = await endOf('yes complaint | head -c 100000 >&2; echo the last word >&2; exit 1')
    expect(end).toMatchObject({ message: expect.stringMatching(/the last word$/) })
    expect(end?.type === 'failed' && end.message.length).toBeLessThan(2_200)
  })

  it('does not lose what a slow listener has not heard yet', async () => {
    let heard = 0
    for await (const { message } of launch(`echo '${INIT}'; seq -f '{"type":"x","n":%.0f}' 5000`).steps) {
      if (message !== undefined) heard += 1
      if (heard === 10) await new Promise((resolve) => setTimeout(resolve, 900))
    }
    expect(heard).toBe(5_001)
  })
})

describe('the end of a program', () => {
  const pids = (): string => join(folder, 'pids')
  const STUBBORN = `trap '' TERM; echo $$ >> pids; (trap '' TERM; sh -c 'echo $$ >> pids; sleep 60' ) & echo '${INIT}'; while :; do sleep 1; done`

  it('comes when it is interrupted, with everything it started', async () => {
    const agent = launch(STUBBORN)
    const heard: RuntimeStep<unknown>[] = []
    for await (const step of agent.steps) {
      heard.push(step)
      await until(() => existsSync(pids()), 'a process')
      await agent.interrupt()
    }
    expect(heard.at(-1)?.end).toEqual({ type: 'interrupted' })
    expect(alive(pids())).toEqual([])
  })

  it('comes when the signal says so, and when nobody listens any more', async () => {
    const stopping = new AbortController()
    for await (const _ of launch(STUBBORN, { signal: stopping.signal }).steps) stopping.abort()
    expect(alive(pids())).toEqual([])
    for await (const _ of launch(STUBBORN).steps) break
    expect(alive(pids())).toEqual([])
  })

  it('takes along what it left running, and does not wait for what fled', async () => {
    const left = `(echo $$ > /dev/null; sh -c 'echo $$ >> pids; exec sleep 60') & echo '${INIT}'; sleep 0.3`
    expect(await endOf(left)).toEqual({ type: 'idle' })
    expect(alive(pids())).toEqual([])
    const began = performance.now()
    expect(await endOf(`setsid sleep 60 & echo '${INIT}'; sleep 0.3`)).toEqual({ type: 'idle' })
    expect(performance.now() - began).toBeLessThan(60_000)
  })

  it('comes before the beginning when the signal has aborted by then', async () => {
    const signal = AbortSignal.abort()
    expect(await endOf('echo $$ > pids', { signal })).toEqual({ type: 'interrupted' })
    expect(existsSync(pids())).toBe(false)
  })
})

/** How many characters were searched or taken apart in all while something ran. */
const charactersHandled = async (run: () => Promise<unknown>): Promise<number> => {
  const own = { split: String.prototype.split, indexOf: String.prototype.indexOf }
  let handled = 0
  const counting = <F extends (...args: never[]) => unknown>(method: F): F =>
    function counted(this: string, ...args: Parameters<F>) {
      handled += this.length
      return method.apply(this, args)
    } as unknown as F
  Object.assign(String.prototype, { split: counting(own.split), indexOf: counting(own.indexOf) })
  try {
    await run()
  } finally {
    Object.assign(String.prototype, own)
  }
  return handled
}

describe('a line of 26 MB', () => {
  const LENGTH = 26 * 1024 * 1024
  const says = `const text = 'x'.repeat(${LENGTH})
    console.log('${INIT}')
    console.log(JSON.stringify({ type: 'assistant', session_id: 's-1', message: { id: 'm', content: [{ type: 'text', text }] } }))`

  it('is read in work that grows with its length, not with its square', async () => {
    let read = 0
    const handled = await charactersHandled(async () => {
      for (const { texts } of await all(launch([process.execPath, '-e', says]).steps))
        read += texts.reduce((sum, { text }) => sum + text.length, 0)
    })
    expect(read).toBe(LENGTH)
    expect(handled / LENGTH).toBeLessThan(4)
  })
})
