import { beforeEach, describe, expect, it } from 'vitest'
import type { HookFunction, ThresholdPayload } from '../../src/entry/hooks.ts'
import { type Batonpass, createBatonpass, functionRuntime, type RunRequest } from '../../src/entry/index.ts'
import type { Store } from '../../src/entry/ports.ts'
import type { ScriptedRuntime, StoreUnderTest } from '../../src/entry/testing.ts'
import { lostProcess } from '../support/lost-process.ts'
import { keeps } from '../support/meddled-store.ts'
import { openStore } from '../support/stores.ts'
import { ENDS, FILLS, functionHook, play, recorded, script, sleep, TASK, turn, types } from './played.ts'

const KEY = 'policy'
const LEASE_MS = 60
const AUTO = { restart: { policy: 'auto' } }

let store: Store
let passTime: StoreUnderTest['passTime']

beforeEach(async () => {
  ;({ store, passTime } = await openStore('memory'))
})

/** A threshold hook that answers with this, and what it was told. */
const asked = (answer: HookFunction) => {
  const told: ThresholdPayload[] = []
  const hook = functionHook('on_context_threshold', (payload, call) => {
    told.push(payload as ThresholdPayload)
    return answer(payload, call)
  })
  return { told, hooks: [hook] }
}

const broken = (): never => {
  throw new Error('No disk')
}

/** Runs without saying a policy: what is configured counts. */
const playAsConfigured = (batonpass: Batonpass, runtime: ScriptedRuntime, more: Partial<RunRequest> = {}) =>
  play(batonpass, runtime, { ...more, policy: undefined as never })

const endless = () => script([{ turns: [...FILLS, turn(950, 'edit'), turn(960)] }])
const restarting = () =>
  script([{ turns: [...FILLS, turn(920)], checkpoint: '<checkpoint>Half.</checkpoint>' }, { turns: ENDS }])

describe('a policy that was configured', () => {
  it('lets the threshold hooks decide: continue lets the session run on', async () => {
    const { told, hooks } = asked(() => 'continue')
    const batonpass = await createBatonpass({ store, config: AUTO, runs: { hooks } })
    const { summary } = await playAsConfigured(batonpass, endless())
    expect(told).toHaveLength(1)
    expect(summary).toMatchObject({ outcome: 'completed', restarts: 0, turns: 4 })
    expect((await recorded(batonpass, summary)).handoffs).toEqual([])
  })

  it('restarts by itself when all of them fail', async () => {
    const { told, hooks } = asked(broken)
    const batonpass = await createBatonpass({ store, config: AUTO, runs: { hooks } })
    const { summary } = await playAsConfigured(batonpass, restarting())
    expect(told).toHaveLength(1)
    expect(summary).toMatchObject({ outcome: 'completed', restarts: 1 })
    expect((await recorded(batonpass, summary)).handoffs).toMatchObject([{ document: 'Half.', flags: [] }])
  })

  it('restarts without hooks', async () => {
    const batonpass = await createBatonpass({ store, config: AUTO })
    expect((await playAsConfigured(batonpass, restarting())).summary).toMatchObject({ restarts: 1 })
  })

  it('gives way to what a run says', async () => {
    const batonpass = await createBatonpass({ store, config: AUTO })
    const { summary, events } = await play(batonpass, endless(), { policy: 'advise' })
    expect(summary).toMatchObject({ outcome: 'completed', restarts: 0 })
    expect(types(events)).toContain('context:milestone')
  })
})

describe('under advise', () => {
  it('a hook that wants a new session gets one', async () => {
    const { hooks } = asked(() => '')
    const batonpass = await createBatonpass({ store, runs: { hooks } })
    const { summary } = await play(batonpass, restarting(), { policy: 'advise' })
    expect(summary).toMatchObject({ outcome: 'completed', restarts: 1 })
    expect((await recorded(batonpass, summary)).handoffs).toMatchObject([
      { flags: ['decided_by_hook', 'minimal_continuation', 'checkpoint_skipped', 'recap_from_record'] },
    ])
  })

  it('hooks that all fail leave it at that: there is no restart of its own', async () => {
    const { told, hooks } = asked(broken)
    const batonpass = await createBatonpass({ store, runs: { hooks } })
    const { summary } = await play(batonpass, endless(), { policy: 'advise' })
    expect(told).toHaveLength(1)
    expect(summary).toMatchObject({ outcome: 'completed', restarts: 0 })
  })

  it('cancelled, a session is restarted by a later run under auto', async () => {
    const batonpass = await createBatonpass({ store })
    const runtime = script([
      { turns: [turn(100, 'a'), turn(900, 'b'), turn(910, 'c'), turn(920)], checkpoint: 'Half.' },
      { turns: ENDS },
    ])
    const about = { runtime, agent: 'claude', prompt: TASK, conversation: KEY, policy: 'advise' } as const
    for await (const _ of batonpass.run(about)) break
    const { summary } = await play(batonpass, runtime, { conversation: KEY, policy: 'auto' })
    expect(summary).toMatchObject({ outcome: 'completed', restarts: 1 })
    expect((await recorded(batonpass, summary)).handoffs).toMatchObject([{ status: 'completed', document: 'Half.' }])
  })
})

describe('lost under advise', () => {
  it('a session is restarted by a run under auto that takes it over', async () => {
    const turns = [turn(100, 'a'), turn(900, 'b'), turn(910, 'c'), turn(920)]
    const runtime = script([{ turns, checkpoint: 'Half.' }, { turns: ENDS }])
    const { store: last, lost } = lostProcess(store, (unit) => keeps(unit, 'turn.recorded'), { stillReads: true })
    const doomed = await createBatonpass({ store: last })
    const about = { runtime, agent: 'claude', prompt: TASK, conversation: KEY, leaseMs: LEASE_MS }
    void doomed.run({ ...about, policy: 'advise' }).finish()
    await lost
    await passTime(LEASE_MS + 1)
    const batonpass = await createBatonpass({ store })
    const { summary } = await play(batonpass, runtime, { conversation: KEY, policy: 'auto' })
    expect(summary).toMatchObject({ outcome: 'completed', restarts: 1 })
    expect((await recorded(batonpass, summary)).handoffs).toMatchObject([{ status: 'completed', document: 'Half.' }])
  })
})

describe('recovered', () => {
  const end = { type: 'overflow', message: 'Too long' } as const

  it.each([
    ['auto', { outcome: 'completed', restarts: 1 }],
    ['advise', { outcome: 'failed', restarts: 0 }],
  ] as const)('a run is under %s as it was', async (policy, expected) => {
    const { hooks } = asked(() => 'continue')
    const runtime = script([{ turns: [turn(100, 'a'), turn(200, 'b')], end }, { turns: ENDS }])
    const { store: last, lost } = lostProcess(store, (unit) => keeps(unit, 'turn.recorded'), { stillReads: true })
    const doomed = await createBatonpass({ store: last, runs: { hooks } })
    void doomed.run({ runtime, agent: 'claude', prompt: TASK, policy, leaseMs: LEASE_MS }).finish()
    await lost
    await passTime(LEASE_MS + 1)
    const batonpass = await createBatonpass({ store })
    const recovered = await batonpass.recover({ runtimes: [runtime], run: { hooks } })
    expect(recovered).toMatchObject([{ type: 'resumed', summary: expected }])
  })
})

describe('a threshold hook', () => {
  it('during which the run is cancelled spends no restart', async () => {
    const controller = new AbortController()
    const { hooks } = asked(async () => {
      controller.abort(new Error('Enough'))
      await sleep(20)
      return 'abort'
    })
    const batonpass = await createBatonpass({ store, runs: { hooks } })
    const { summary, events } = await play(batonpass, restarting(), { signal: controller.signal })
    expect(summary).toMatchObject({ outcome: 'cancelled', restarts: 0 })
    expect(types(events)).not.toContain('context:handoff:start')
    const { sessions, handoffs } = await recorded(batonpass, summary)
    expect(handoffs).toEqual([])
    expect(sessions).toMatchObject([{ state: 'paused' }])
  })

  it('is told the name of the model, as the runtime says it', async () => {
    const { told, hooks } = asked(() => 'continue')
    const batonpass = await createBatonpass({ store, runs: { hooks } })
    const runtime = functionRuntime<number>({
      backend: 'metered',
      start: async function* () {
        yield* [100, 900, 910]
      },
      read: (promptTokens) => ({
        events: [
          { type: 'window', tokens: 1_000 },
          { type: 'request', key: `${promptTokens}`, promptTokens, outputTokens: 1, model: 'opus' },
        ],
        texts: [{ role: 'assistant', text: 'On it.' }],
      }),
    })
    await play(batonpass, runtime)
    expect(told).toMatchObject([{ context: { model_name: 'opus', context_window: 1_000 } }])
  })
})
