import { beforeEach, describe, expect, it } from 'vitest'
import { type Batonpass, createBatonpass, functionRuntime, type RunEvent } from '../../src/entry/index.ts'
import type { Store } from '../../src/entry/ports.ts'
import type { ScriptedRuntime, ScriptedTurn } from '../../src/entry/testing.ts'
import { openStore } from '../support/stores.ts'
import { play, recorded, script, turn } from './played.ts'

const KEY = 'slack-C1-1700000000.2'
const FIRST = 'Fix the flaky test'
const SECOND = 'Now write the docs'

let store: Store
let batonpass: Batonpass

beforeEach(async () => {
  ;({ store } = await openStore('memory'))
  batonpass = await createBatonpass({ store })
})

const ask = (runtime: Parameters<typeof play>[1], prompt: string, more: Parameters<typeof play>[2] = {}) =>
  play(batonpass, runtime, { conversation: KEY, prompt, ...more })

/** Calls a run off after its first message, as Ctrl-C does. */
const stopIn = async (runtime: ScriptedRuntime, prompt: string) => {
  const stop = new AbortController()
  const run = batonpass.run({ runtime, agent: 'claude', prompt, conversation: KEY, signal: stop.signal })
  for await (const _ of run) stop.abort()
  return run.summary
}

const used = (promptTokens: number, name: string, argument: string): ScriptedTurn => ({
  text: `At ${promptTokens}.`,
  promptTokens,
  tools: [{ name, argument, result: 'ok' }],
})

const ways = (events: readonly RunEvent[]) =>
  events.flatMap((event) =>
    event.type === 'conversation:follow_up' ? [[event.resumes !== null, event.freshBecause]] : [],
  )

const hows = ({ launches }: ScriptedRuntime) => launches.map(({ how }) => how)

describe('a new prompt after Ctrl-C', () => {
  const works = () => script([{ turns: [used(100, 'Edit', 'src/clock.ts'), turn(200, 'b'), turn(300)] }])

  it('resumes the session that was stopped, and says so', async () => {
    const runtime = works()
    await stopIn(runtime, FIRST)
    const { events } = await ask(runtime, SECOND)
    expect(hows(runtime)).toEqual(['start', 'resume'])
    expect(ways(events)).toEqual([[true, null]])
  })

  it.each<[string, string, Parameters<typeof play>[2]]>([
    ['the session mode is fresh', 'mode_fresh', { sessionMode: 'fresh' }],
    ['the timeout is over', 'too_old', { sessionTimeoutMs: 0 }],
  ])('starts from the record when %s', async (_, reason, more) => {
    const runtime = works()
    await stopIn(runtime, FIRST)
    const { summary, events } = await ask(runtime, SECOND, more)
    expect(hows(runtime)).toEqual(['start', 'start'])
    expect(ways(events)).toEqual([[false, reason]])
    const prompt = runtime.launches.at(-1)?.prompt ?? ''
    expect(prompt.endsWith(SECOND)).toBe(true)
    expect(prompt).toContain(FIRST)
    expect(prompt).toMatch(/<recap-[0-9a-z-]+>\n[\s\S]*- Edit: src\/clock\.ts/)
    const { sessions } = await recorded(batonpass, summary)
    expect(sessions.map(({ state }) => state)).toEqual(['failed', 'completed'])
    expect(sessions[0]).toMatchObject({ endReason: expect.stringContaining('not resumed') })
    expect(await batonpass.audit.verify(summary.conversationId)).toMatchObject({ value: { intact: true } })
  })

  it.each([
    ['a new prompt', SECOND],
    ['the same prompt', FIRST],
  ])('starts from the record when the runtime has lost the session: %s', async (_, prompt) => {
    await stopIn(works(), FIRST)
    const other = script([{ turns: [turn(100)] }])
    const { summary, events } = await ask(other, prompt)
    expect(summary.outcome).toBe('completed')
    expect(hows(other)).toEqual(['start'])
    expect(ways(events)).toEqual([[false, 'session_gone']])
    expect(other.launches[0]?.prompt).toMatch(/<recap-[0-9a-z-]+>\n[\s\S]*- Edit: src\/clock\.ts/)
  })
})

describe('a place that is not on record', () => {
  it('is used by the run that names it, which does not resume what ran elsewhere, and is warned', async () => {
    const runtime = script([{ turns: [{ ...turn(100), rests: true }, turn(200)] }])
    await ask(runtime, FIRST)
    const { events } = await ask(runtime, SECOND, { workspace: { workingDirectory: '/b' } })
    expect(hows(runtime)).toEqual(['start', 'start'])
    expect(runtime.launches.at(-1)?.workspace).toEqual({ workingDirectory: '/b' })
    expect(ways(events)).toEqual([[false, 'another_directory']])
    expect(events.filter(({ type }) => type === 'run:warning')).toMatchObject([
      { code: 'workspace.not_kept', message: expect.stringContaining('"/b"') },
    ])
  })
})

describe('a run that failed', () => {
  const failing = () =>
    script([{ turns: [used(100, 'Bash', 'npm test'), used(200, 'Edit', 'src/clock.ts')], end: FAILED }])
  const FAILED = { type: 'failed', message: 'Overloaded' } as const

  it.each([
    ['again', FIRST],
    ['with a new prompt', SECOND],
  ])('and is run %s gets a recap of the record', async (_, prompt) => {
    expect((await ask(failing(), FIRST)).summary.outcome).toBe('failed')
    const runtime = script([{ turns: [turn(100)] }])
    await ask(runtime, prompt)
    const opening = runtime.launches[0]?.prompt ?? ''
    const [, , recap = ''] = /<(recap-[0-9a-z-]{16,})>\n([\s\S]*)\n<\/\1>/.exec(opening) ?? []
    expect(recap).toContain('- Bash: npm test')
    expect(recap).toContain('## Files touched\n- src/clock.ts')
    expect(recap).toContain('- At 200.')
    expect(opening).toContain('put together without a model')
    expect(opening).toContain(FIRST)
  })

  it('in its second attempt before it said anything, has not lost what the first one did', async () => {
    await ask(failing(), FIRST)
    await ask(script([{ turns: [], end: FAILED }]), FIRST)
    const runtime = script([{ turns: [turn(100)] }])
    await ask(runtime, FIRST)
    expect(runtime.launches[0]?.prompt).toContain('- Bash: npm test')
  })
})

describe('a resume that fails because the runtime no longer has the session', () => {
  const forgetful = (prompts: string[], { isStopped = false, has = undefined as boolean | undefined } = {}) =>
    functionRuntime<string>({
      backend: 'forgetful',
      start: async function* ({ prompt, signal }) {
        prompts.push(prompt)
        yield `Answer ${prompts.length}`
        if (isStopped && prompts.length === 1)
          await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
      },
      // biome-ignore lint/correctness/useYield: it fails before it says anything
      resume: async function* () {
        throw new Error('No conversation found')
      },
      read: (text) => ({ texts: [{ role: 'assistant', text }], providerSessionId: `session-${prompts.length}` }),
      ...(has !== undefined && { has: async () => has }),
    })

  it('starts fresh from the record, and says so', async () => {
    const prompts: string[] = []
    const runtime = forgetful(prompts)
    await ask(runtime, FIRST)
    const { summary, events } = await ask(runtime, SECOND)
    expect(summary.outcome).toBe('completed')
    expect(prompts).toHaveLength(2)
    expect(prompts[1]).toContain(FIRST)
    expect(prompts[1]).toContain(SECOND)
    expect(prompts[1]).toContain('Answer 1')
    expect(ways(events).at(-1)).toEqual([false, 'session_gone'])
    const { sessions } = await recorded(batonpass, summary)
    expect(sessions.map(({ state }) => state)).toEqual(['completed', 'failed', 'completed'])
    expect(await batonpass.audit.verify(summary.conversationId)).toMatchObject({ value: { intact: true } })
  })

  it('in a session that was stopped hands it on, with what was newly asked', async () => {
    const prompts: string[] = []
    const runtime = forgetful(prompts, { isStopped: true })
    const stop = new AbortController()
    const run = batonpass.run({ runtime, agent: 'claude', prompt: FIRST, conversation: KEY, signal: stop.signal })
    for await (const _ of run) stop.abort()
    const { summary, events } = await ask(runtime, SECOND)
    expect(summary.outcome).toBe('completed')
    expect(prompts[1]).toContain(SECOND)
    expect(prompts[1]).toContain('Answer 1')
    expect(ways(events).at(-1)).toEqual([false, 'session_gone'])
  })

  it('but not when the runtime still has it: then something else is wrong', async () => {
    const runtime = forgetful([], { has: true })
    await ask(runtime, FIRST)
    const { summary } = await ask(runtime, SECOND)
    expect(summary).toMatchObject({ outcome: 'failed', reason: 'No conversation found' })
  })
})
