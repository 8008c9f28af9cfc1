import { beforeEach, describe, expect, it } from 'vitest'
import type { HookSettings } from '../../src/entry/hooks.ts'
import { type Batonpass, createBatonpass } from '../../src/entry/index.ts'
import type { Store } from '../../src/entry/ports.ts'
import type { ScriptedRuntime, ScriptedTurn, StoreUnderTest } from '../../src/entry/testing.ts'
import { lostProcess } from '../support/lost-process.ts'
import { keeps } from '../support/meddled-store.ts'
import { openStore } from '../support/stores.ts'
import { FILLS, functionHook, play, recorded, script, spoken, turn } from './played.ts'

const KEY = 'slack-C1-1700000000.1'
const FIRST = 'Fix the flaky test'
const SECOND = 'Now write the docs'
const THIRD = 'And translate them'
const LEASE_MS = 60
const DAY_MS = 86_400_000

let store: Store
let passTime: StoreUnderTest['passTime']
let batonpass: Batonpass

beforeEach(async () => {
  ;({ store, passTime } = await openStore('memory'))
  batonpass = await createBatonpass({ store })
})

const rests = (promptTokens: number): ScriptedTurn => ({ ...turn(promptTokens, 'read'), rests: true })

const launches = ({ launches: all }: ScriptedRuntime) => all.map(({ how, session }) => [how, session])

const ask = (runtime: ScriptedRuntime, prompt: string, more: Parameters<typeof play>[2] = {}) =>
  play(batonpass, runtime, { conversation: KEY, prompt, ...more })

const lastPrompt = (runtime: ScriptedRuntime): string => runtime.launches.at(-1)?.prompt ?? ''

describe('the place of a conversation', () => {
  const at = (workingDirectory: string) => ({ workspace: { workingDirectory } })

  it('is kept, and a run that names another place is told so', async () => {
    const runtime = script([{ turns: [rests(100), rests(200), rests(300)] }])
    const warned = async (prompt: string, more: Parameters<typeof play>[2]) =>
      (await ask(runtime, prompt, more)).events.filter(({ type }) => type === 'run:warning')
    expect(await warned(FIRST, at('/srv/shop'))).toEqual([])
    expect(await warned(SECOND, at('/srv/shop'))).toEqual([])
    expect(await warned(THIRD, at('/srv/other'))).toMatchObject([
      { code: 'workspace.kept', message: expect.stringMatching(/works in "\/srv\/shop".*"\/srv\/other" is not used/) },
    ])
    expect(runtime.launches.at(-1)?.workspace).toEqual({ workingDirectory: '/srv/shop' })
  })
})

describe('a second prompt in a conversation', () => {
  it('resumes the provider session: a new epoch on it, and no handoff between', async () => {
    const runtime = script([{ turns: [rests(100), rests(200), rests(300)] }])
    for (const prompt of [FIRST, SECOND, THIRD]) expect((await ask(runtime, prompt)).summary.outcome).toBe('completed')
    const conversation = await batonpass.history.conversationByKey(KEY)
    const { sessions, handoffs } = await recorded(batonpass, { conversationId: conversation?.id as never })
    const provider = sessions[0]?.providerSessionId
    expect(handoffs).toEqual([])
    expect(sessions.map(({ epoch, state, providerSessionId }) => [epoch, state, providerSessionId])).toEqual([
      [1, 'completed', provider],
      [2, 'completed', provider],
      [3, 'completed', provider],
    ])
    expect(launches(runtime)).toEqual([
      ['start', provider],
      ['resume', provider],
      ['resume', provider],
    ])
    // The agent remembers: nothing is said to it again.
    expect(runtime.launches.map(({ prompt }) => prompt)).toEqual([FIRST, SECOND, THIRD])
    expect(await spoken(store, { conversationId: conversation?.id as never })).toEqual([
      `user: ${FIRST}`,
      'assistant: At 100.',
      'tool: ok',
      `user: ${SECOND}`,
      'assistant: At 200.',
      'tool: ok',
      `user: ${THIRD}`,
      'assistant: At 300.',
      'tool: ok',
    ])
  })

  it('is the task of its successors, and the first request is history, word for word', async () => {
    const runtime = script([
      { turns: [rests(100), turn(900, 'edit')], checkpoint: 'Half of the docs.' },
      { turns: [turn(100)] },
    ])
    await ask(runtime, FIRST)
    const { summary } = await ask(runtime, SECOND)
    expect(summary).toMatchObject({ outcome: 'completed', restarts: 1 })
    const prompt = lastPrompt(runtime)
    expect(prompt.startsWith(SECOND)).toBe(true)
    expect(prompt).toContain('Half of the docs.')
    expect(prompt.split(FIRST)).toHaveLength(2)
    expect(prompt.indexOf(FIRST)).toBeGreaterThan(prompt.indexOf(SECOND))
    expect(runtime.questions.at(-1)?.prompt).toBeDefined()
  })

  it('is what hooks are told as the original prompt', async () => {
    const told: [string, unknown][] = []
    const moments = ['on_session_start', 'on_context_threshold', 'after_handoff', 'after_run'] as const
    const hooks: readonly HookSettings[] = moments.map((moment) =>
      functionHook(moment, (payload) => {
        told.push([moment, (payload as { original_prompt: string }).original_prompt])
        return ''
      }),
    )
    const runtime = script([{ turns: [rests(100), turn(900, 'edit')] }, { turns: [turn(100)] }])
    await ask(runtime, FIRST)
    await ask(runtime, SECOND, { hooks })
    expect(told.map(([moment]) => moment)).toEqual([
      'on_session_start',
      'on_context_threshold',
      'on_session_start',
      'after_handoff',
      'after_run',
    ])
    expect(told.every(([, prompt]) => prompt === SECOND)).toBe(true)
  })

  it('is the task of a recovered session too', async () => {
    const runtime = script([
      { turns: [rests(100), turn(200, 'a'), turn(300, 'b'), turn(900, 'c'), turn(950)], checkpoint: 'Half.' },
      { turns: [turn(100)] },
    ])
    await ask(runtime, FIRST)
    const { store: last, lost } = lostProcess(store, (unit) => keeps(unit, 'turn.recorded'), { stillReads: true })
    const doomed = await createBatonpass({ store: last })
    void doomed
      .run({ runtime, agent: 'claude', prompt: SECOND, conversation: KEY, policy: 'auto', leaseMs: LEASE_MS })
      .finish()
    await lost
    await passTime(LEASE_MS + 1)
    expect(await batonpass.recover({ runtimes: [runtime] })).toMatchObject([
      { type: 'resumed', summary: { outcome: 'completed', restarts: 1 } },
    ])
    expect(lastPrompt(runtime).startsWith(SECOND)).toBe(true)
    expect(lastPrompt(runtime)).toContain(FIRST)
  })
})

describe('a second prompt that cannot resume the provider session', () => {
  const cases: readonly [string, string, () => Promise<ScriptedRuntime>, Parameters<typeof play>[2]][] = [
    ['session.mode is fresh', 'mode_fresh', async () => script([{ turns: [rests(100)] }]), { sessionMode: 'fresh' }],
    ['another agent asks', 'another_agent', async () => script([{ turns: [rests(100)] }]), { agent: 'opus' }],
    ['the runtime cannot', 'cannot_resume', async () => script([{ turns: [rests(100)] }], { canResume: false }), {}],
    [
      'the window is nearly full',
      'nearly_full',
      async () => script([{ turns: [turn(850)] }, { turns: [turn(9)] }]),
      {},
    ],
    ['the timeout is over', 'too_old', async () => script([{ turns: [rests(100)] }]), { sessionTimeoutMs: 0 }],
  ]

  it.each(cases)('starts fresh from the record, when %s', async (_, reason, make, more) => {
    const runtime = await make()
    await ask(runtime, FIRST)
    const { summary, events } = await ask(runtime, SECOND, more)
    expect(summary.outcome).toBe('completed')
    expect(runtime.launches.map(({ how }) => how)).toEqual(['start', 'start'])
    const prompt = lastPrompt(runtime)
    expect(prompt.endsWith(SECOND)).toBe(true)
    expect(prompt.split(FIRST)).toHaveLength(2)
    expect(prompt).toMatch(/<answer-[0-9a-z-]+>\nAt \d+\.\n<\/answer-/)
    expect(events.filter(({ type }) => type === 'conversation:follow_up')).toMatchObject([
      { resumes: null, freshBecause: reason },
    ])
    const { sessions, handoffs } = await recorded(batonpass, summary)
    expect(sessions.map(({ state }) => state)).toEqual(['completed', 'completed'])
    expect(handoffs).toEqual([])
  })

  it('starts fresh when the runtime has lost it, and with another runtime', async () => {
    const first = script([{ turns: [rests(100)] }])
    await ask(first, FIRST)
    const second = script([{ turns: [rests(100)] }])
    const { events } = await ask(second, SECOND)
    expect(events).toContainEqual(expect.objectContaining({ freshBecause: 'session_gone' }))
    const other = script([{ turns: [rests(100)] }], { backend: 'codex' })
    const last = await ask(other, THIRD)
    expect(last.events).toContainEqual(expect.objectContaining({ freshBecause: 'another_runtime' }))
    const prompt = lastPrompt(other)
    expect(prompt.indexOf(FIRST)).toBeLessThan(prompt.indexOf(SECOND))
    expect(prompt.endsWith(THIRD)).toBe(true)
  })

  it('starts from the last checkpoint as well as from the last answer', async () => {
    const runtime = script([
      { turns: FILLS, checkpoint: 'Half is done.' },
      { turns: [{ ...turn(870), text: 'All of it is done.' }] },
      { turns: [turn(100)] },
    ])
    await ask(runtime, FIRST)
    await ask(runtime, SECOND)
    const prompt = lastPrompt(runtime)
    expect(prompt).toMatch(/<checkpoint-[0-9a-z-]+>\nHalf is done\.\n/)
    expect(prompt).toMatch(/<answer-[0-9a-z-]+>\nAll of it is done\.\n/)
  })

  it('is told the day after, and not the week after', async () => {
    let now = Date.parse('2026-11-17T08:00:00Z')
    const clock = { now: () => new Date(now).toISOString() as never }
    batonpass = await createBatonpass({ store, clock })
    const runtime = script([{ turns: [rests(100), rests(200), rests(300)] }])
    await ask(runtime, FIRST)
    now += DAY_MS - 1
    await ask(runtime, SECOND)
    now += DAY_MS
    await ask(runtime, THIRD)
    expect(runtime.launches.map(({ how }) => how)).toEqual(['start', 'resume', 'start'])
  })
})

describe('a follow-up whose process is lost', () => {
  it('is read back without what earlier epochs had on record', async () => {
    const runtime = script([{ turns: [rests(100), turn(200, 'read'), rests(300)] }])
    const transcript = async function* () {
      for (const text of ['At 100.', 'At 200.', 'At 250.'])
        yield { events: [{ type: 'unmetered' as const }], texts: [{ role: 'assistant' as const, text }] }
    }
    const remembering = Object.assign(runtime, { transcript })
    await ask(remembering, FIRST)
    const { store: last, lost } = lostProcess(store, (unit) => keeps(unit, 'turn.recorded'), { stillReads: true })
    const doomed = await createBatonpass({ store: last })
    void doomed
      .run({ runtime: remembering, agent: 'claude', prompt: SECOND, conversation: KEY, leaseMs: LEASE_MS })
      .finish()
    await lost
    await passTime(LEASE_MS + 1)
    const [recovered] = await batonpass.recover({ runtimes: [remembering] })
    expect(recovered).toMatchObject({ type: 'resumed' })
    const texts = await spoken(store, recovered as never)
    expect(texts.filter((text) => text === 'assistant: At 100.')).toHaveLength(1)
    expect(texts).toContain('assistant: At 250.')
  })

  it('before its prompt was said gets the prompt when the same is asked again', async () => {
    const runtime = script([{ turns: [turn(100, 'a'), turn(200, 'b'), turn(300, 'c'), turn(400, 'd'), rests(500)] }])
    const lose = async (prompt: string, kept: Parameters<typeof keeps>[1]) => {
      const { store: last, lost } = lostProcess(store, (unit) => keeps(unit, kept), { stillReads: true })
      const doomed = await createBatonpass({ store: last })
      void doomed.run({ runtime, agent: 'claude', prompt, conversation: KEY, leaseMs: LEASE_MS }).finish()
      await lost
      await passTime(LEASE_MS + 1)
    }
    await lose(FIRST, 'turn.recorded')
    await lose(SECOND, 'conversation.asked')
    const { summary } = await ask(runtime, SECOND)
    expect(lastPrompt(runtime)).toContain(SECOND)
    expect((await spoken(store, summary)).filter((text) => text.includes(SECOND))).toHaveLength(1)
  })
})
