import { beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/entry/container.ts'
import { type Batonpass, createBatonpass, functionRuntime, type RunRequest } from '../../src/entry/index.ts'
import { MemoryStore } from '../../src/entry/memory.ts'
import type { Store } from '../../src/entry/ports.ts'
import type { Script, ScriptedWindow } from '../../src/entry/testing.ts'
import { compareLandings } from './landings.ts'
import { ENDS, functionHook, play, recorded, script, spoken, TASK, turn, types } from './played.ts'

let store: Store
let batonpass: Batonpass
beforeEach(async () => {
  store = new MemoryStore({ clock: systemClock })
  batonpass = await createBatonpass({ store })
})

const LANDS = { text: 'Saved it.\n[landed]', promptTokens: 760 }
const KEPT = '<checkpoint>Half is done.</checkpoint>'

/** A window that reaches the critical milestone with its second turn, and would go on until it is full. */
const FILLS_UP: ScriptedWindow = {
  turns: [turn(100, 'read'), turn(700, 'edit'), turn(780, 'test'), turn(900, 'edit'), turn(950, 'edit')],
  checkpoint: KEPT,
  whenTold: [turn(740, 'save'), LANDS],
}

const landing = async (first: ScriptedWindow = FILLS_UP, more: Partial<RunRequest> = {}, how: Partial<Script> = {}) => {
  const runtime = script([first, { turns: ENDS }], { takesInput: true, ...how })
  const played = await play(batonpass, runtime, more)
  return { ...played, runtime, ...(await recorded(batonpass, played.summary)) }
}

describe('an agent whose window reaches the critical milestone', () => {
  it('is told once to bring its unit to an end, and goes on in a fresh window where it stopped', async () => {
    const { runtime, summary, sessions, handoffs, events } = await landing()
    expect(runtime.told).toHaveLength(1)
    expect(runtime.told[0]?.text).toMatch(/^Your context window is filling up\..*make \[landed\] the last line/s)
    expect(summary).toMatchObject({ outcome: 'completed', restarts: 1, sessions: 2, turns: 6 })
    expect(sessions.map(({ state }) => state)).toEqual(['handed_off', 'completed'])
    expect(handoffs).toMatchObject([
      {
        status: 'completed',
        flags: [],
        document: 'Half is done.',
        reason: 'The agent brought its work to a soft landing, because its window was filling up.',
      },
    ])
    expect(types(events).filter((type) => type === 'context:landing')).toHaveLength(1)
  })

  it('has what it was told in its record as ours: no prompt, and no new exchange', async () => {
    const { summary, runtime, handoffs } = await landing()
    const said = await spoken(store, summary)
    const text = runtime.told[0]?.text
    expect(said.slice(0, 8)).toEqual([
      `user: ${TASK}`,
      'assistant: At 100.',
      'tool: ok',
      'assistant: At 700.',
      'tool: ok',
      `system: ${text}`,
      'assistant: At 740.',
      'tool: ok',
    ])
    const { items } = await store.messages.listMessages(summary.conversationId, {})
    expect(items.filter((message) => message.text === text).map(({ role, origin }) => [role, origin])).toEqual([
      ['system', 'batonpass'],
    ])
    expect(handoffs[0]?.triggeringToolCalls.map(({ toolName }) => toolName)).toEqual(['read', 'edit', 'save'])
    expect(await batonpass.audit.verify(summary.conversationId)).toMatchObject({ ok: true, value: { intact: true } })
  })

  it('and whose task is done by then is done', async () => {
    const { summary, handoffs } = await landing({ ...FILLS_UP, whenTold: [turn(740, 'save'), turn(760)] })
    expect([summary.outcome, summary.restarts, handoffs]).toEqual(['completed', 0, []])
  })

  it('and who goes on all the same is restarted when its window is full', async () => {
    const { whenTold: _, ...deaf } = FILLS_UP
    const { runtime, handoffs, summary } = await landing(deaf)
    expect(runtime.told).toHaveLength(1)
    expect(summary).toMatchObject({ outcome: 'completed', restarts: 1 })
    expect(handoffs[0]?.reason).toMatch(/^The context window is /)
  })

  it('who lands after the restart has begun is restarted, and not taken to be done', async () => {
    const late = { ...FILLS_UP, whenTold: [turn(900, 'save'), { text: 'Saved.\n[landed]', promptTokens: 910 }] }
    const runtime = script([late, { turns: ENDS }], { takesInput: true })
    const start = runtime.start.bind(runtime)
    runtime.start = (launch) => ({ ...start(launch), interrupt: async () => undefined })
    const { summary } = await play(batonpass, runtime)
    expect(summary).toMatchObject({ outcome: 'completed', restarts: 1 })
    expect((await recorded(batonpass, summary)).handoffs).toMatchObject([{ status: 'completed' }])
  })

  it('who lands with no restart left has not completed its work', async () => {
    const { summary } = await landing(FILLS_UP, { budget: { maxRestarts: 0 } })
    expect(summary).toMatchObject({ outcome: 'exhausted', limit: 'restarts' })
  })

  it('is told again after a compaction: a new cycle', async () => {
    const window = {
      turns: [
        turn(100, 'read'),
        turn(700, 'edit'),
        { ...turn(200, 'read'), afterCompaction: true },
        turn(700, 'edit'),
        turn(710),
      ],
    }
    const { runtime } = await landing(window)
    expect(runtime.told).toHaveLength(2)
  })
})

describe('nothing is said', () => {
  const { whenTold: _, ...plain } = FILLS_UP
  const SAID = 'system: Your context window'

  it.each<[string, ScriptedWindow, Partial<RunRequest>, Partial<Script>]>([
    ['when it is switched off', plain, { softLanding: false }, {}],
    ['under advise', plain, { policy: 'advise' }, {}],
    ['where no restart is to come', plain, { milestones: [{ name: 'critical', at: 0.65 }] }, {}],
    ['where there is no critical milestone', plain, { milestones: [{ name: 'restart', at: 0.85 }] }, {}],
    ['by a jump over both milestones', { ...plain, turns: [turn(100, 'read'), turn(900, 'edit')] }, {}, {}],
    ['to a runtime that takes no input', plain, {}, { takesInput: false }],
  ])('%s', async (_, window, more, how) => {
    const { runtime, summary } = await landing(window, more, how)
    expect(runtime.told).toEqual([])
    expect((await spoken(store, summary)).filter((text) => text.startsWith(SAID))).toEqual([])
  })

  it('on record when it could not be said, and the run goes its way', async () => {
    const runtime = script([plain, { turns: ENDS }], { takesInput: true })
    const start = runtime.start.bind(runtime)
    runtime.start = (launch) => ({ ...start(launch), tell: () => Promise.reject(new Error('The pipe is closed')) })
    const { summary, events } = await play(batonpass, runtime)
    expect(summary).toMatchObject({ outcome: 'completed', restarts: 1 })
    expect(types(events)).not.toContain('context:landing')
    expect((await spoken(store, summary)).filter((text) => text.startsWith('system:'))).toEqual([])
  })
})

describe('where a fresh session does not begin as soon as the agent stops', () => {
  it.each<[string, Partial<RunRequest>]>([
    ['once the budget is spent', { budget: { whenExhausted: 'carry_on' } }],
    ['because hooks decide', { hooks: [functionHook('on_context_threshold', () => 'continue')] }],
  ])('it is told to go on, %s', async (_, more) => {
    const { runtime, summary } = await landing(FILLS_UP, more)
    expect(runtime.told[0]?.text).toMatch(/Then continue the task in small steps/)
    // Whoever stops is done, whatever it writes.
    expect(summary).toMatchObject({ outcome: 'completed', restarts: 0 })
  })
})

describe('the text', () => {
  it('is that of the run, before that of the configuration', async () => {
    const config = { restart: { policy: 'auto', soft_landing: 'Come to an end.' } }
    batonpass = await createBatonpass({ store, config })
    const first = await landing()
    expect(first.runtime.told[0]?.text).toMatch(/^Come to an end\.\nWhen that unit/)
    const second = await landing(FILLS_UP, { softLanding: 'Land.' })
    expect(second.runtime.told[0]?.text).toMatch(/^Land\.\nWhen that unit/)
  })

  it.each([' ', 7, true])('is not %j', async (softLanding) => {
    await expect(landing(FILLS_UP, { softLanding: softLanding as string })).rejects.toThrow(TypeError)
  })
})

it('a function runtime can take what is said, by its launch', async () => {
  const told: string[] = []
  const runtime = functionRuntime<number>({
    backend: 'own',
    start: async function* () {
      yield 700
      yield 0
      yield 720
    },
    read: (tokens) =>
      tokens === 0
        ? { texts: [{ role: 'tool', text: 'ok' }] }
        : {
            events: [
              { type: 'window', tokens: 1_000 },
              { type: 'request', key: `${tokens}`, promptTokens: tokens, outputTokens: 0 },
              { type: 'tool_call', callId: `call-${tokens}`, toolName: 'edit' },
            ],
            texts: [{ role: 'assistant', text: `At ${tokens}.` }],
          },
    tell: async (text, { prompt }) => {
      told.push(`${prompt}: ${text}`)
    },
  })
  const { summary } = await play(batonpass, runtime)
  expect(told).toEqual([expect.stringMatching(new RegExp(`^${TASK}: Your context window is filling up`))])
  expect(summary.outcome).toBe('completed')
})

it('cuts fewer answers off, and leaves fewer units of work half done, than a restart without it', async () => {
  const { without, withLanding } = await compareLandings(25)
  expect(without.restarts).toBeGreaterThan(10)
  expect(withLanding.landed).toBeGreaterThan(withLanding.restarts / 2)
  expect(withLanding.cutAnswers + withLanding.cutTools).toBeLessThan(without.cutAnswers + without.cutTools)
  expect(withLanding.cutUnits).toBeLessThan(without.cutUnits)
}, 120_000)
