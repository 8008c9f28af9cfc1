import { beforeEach, describe, expect, it } from 'vitest'
import { type Batonpass, createBatonpass, unwrap } from '../../src/entry/index.ts'
import type { Store } from '../../src/entry/ports.ts'
import type { ScriptedRuntime, StoreUnderTest } from '../../src/entry/testing.ts'
import { lostProcess } from '../support/lost-process.ts'
import { keeps } from '../support/meddled-store.ts'
import { openStore } from '../support/stores.ts'
import { ENDS, FILLS, play, recorded, script, TASK, turn } from './played.ts'

const LEASE_MS = 60

let store: Store
let passTime: StoreUnderTest['passTime']

beforeEach(async () => {
  ;({ store, passTime } = await openStore('memory'))
})

const restarting = () =>
  script([{ turns: [...FILLS, turn(920)], checkpoint: '<checkpoint>Half.</checkpoint>' }, { turns: ENDS }])

/** Runs without a word about the policy. */
const playPlain = (batonpass: Batonpass, runtime: ScriptedRuntime, more: object = {}) =>
  play(batonpass, runtime, { ...more, policy: undefined as never })

/** The policies of a conversation's sessions as they are stored, in order. */
const storedPolicies = async (batonpass: Batonpass, about: Parameters<typeof recorded>[1]) => {
  const { sessions } = await recorded(batonpass, about)
  return Promise.all(sessions.map(async ({ id }) => (await store.monitors.find(id))?.policy))
}

describe('a run that says nothing about the policy', () => {
  it('restarts, and its sessions say so', async () => {
    const batonpass = await createBatonpass({ store })
    const { summary } = await playPlain(batonpass, restarting())
    expect(summary).toMatchObject({ outcome: 'completed', restarts: 1 })
    expect(await storedPolicies(batonpass, summary)).toEqual(['auto', 'auto'])
  })

  it('restarts under a configuration that does not name one either', async () => {
    const batonpass = await createBatonpass({ store, config: { context_limit: 1_000 } })
    expect((await playPlain(batonpass, restarting())).summary).toMatchObject({ restarts: 1 })
  })

  it.each([
    ['monitor', { monitor: { policy: 'advise' } }],
    ['config', { config: { restart: { policy: 'advise' } } }],
  ] as const)('advises where %s chose that', async (_, options) => {
    const batonpass = await createBatonpass({ store, ...options })
    const { summary } = await playPlain(batonpass, script([{ turns: [...FILLS, turn(950)] }]))
    expect(summary).toMatchObject({ outcome: 'completed', restarts: 0 })
    expect(await storedPolicies(batonpass, summary)).toEqual(['advise'])
  })
})

describe('sessions that no run has started keep advising by default', () => {
  it('with a configuration, too', async () => {
    const { handoffs } = await createBatonpass({ store, config: { context_limit: 1_000 } })
    const { conversation } = unwrap(await handoffs.openConversation({ originalTask: TASK }))
    const asked = { conversationId: conversation.id, agentName: 'claude', backend: 'scripted' }
    expect(unwrap(await handoffs.startSession(asked)).monitor.policy).toBe('advise')
  })
})

describe('taken over by a run', () => {
  const end = { type: 'overflow', message: 'Too long' } as const
  const left = () => script([{ turns: [turn(100, 'a'), turn(200, 'b')], end }, { turns: ENDS }])

  /** Another process is lost in the middle of a session that was started by hand. */
  const startedByHand = async (monitor: object | undefined) => {
    const { handoffs, context } = await createBatonpass({ store })
    const { conversation } = unwrap(await handoffs.openConversation({ originalTask: TASK, externalKey: 'job' }))
    const asked = { conversationId: conversation.id, agentName: 'claude', backend: 'scripted', leaseMs: LEASE_MS }
    const started = unwrap(await handoffs.startSession({ ...asked, prompt: TASK, ...(monitor && { monitor }) }))
    return { context, started }
  }

  it('a session whose advise nobody chose is restarted', async () => {
    await startedByHand(undefined)
    await passTime(LEASE_MS + 1)
    const batonpass = await createBatonpass({ store })
    const { summary } = await playPlain(batonpass, restarting(), { conversation: 'job' })
    expect(summary).toMatchObject({ outcome: 'completed', restarts: 1 })
    expect((await storedPolicies(batonpass, summary)).at(-1)).toBe('auto')
  })

  it('one that was started with advise is not', async () => {
    await startedByHand({ policy: 'advise' })
    await passTime(LEASE_MS + 1)
    const batonpass = await createBatonpass({ store })
    const runtime = script([{ turns: [...FILLS, turn(950)] }])
    const { summary } = await playPlain(batonpass, runtime, { conversation: 'job' })
    expect(summary).toMatchObject({ outcome: 'completed', restarts: 0 })
  })

  it('nor one that was told to advise later; other settings are no choice of a policy', async () => {
    const { context, started } = await startedByHand(undefined)
    unwrap(await context.watch({ session: started.session.id, settings: { policy: 'advise' } }))
    unwrap(await context.watch({ session: started.session.id, settings: { contextLimit: 900 } }))
    await passTime(LEASE_MS + 1)
    const batonpass = await createBatonpass({ store })
    const runtime = script([{ turns: [turn(100, 'a'), turn(880)] }])
    const { summary } = await playPlain(batonpass, runtime, { conversation: 'job' })
    expect(summary).toMatchObject({ outcome: 'completed', restarts: 0 })
  })

  it('one of which only the limit was set is restarted', async () => {
    const { context, started } = await startedByHand(undefined)
    unwrap(await context.watch({ session: started.session.id, settings: { contextLimit: 1_000 } }))
    await passTime(LEASE_MS + 1)
    const batonpass = await createBatonpass({ store })
    const { summary } = await playPlain(batonpass, restarting(), { conversation: 'job' })
    expect(summary).toMatchObject({ restarts: 1 })
  })

  it('a lost run without a policy is recovered under auto', async () => {
    const runtime = left()
    const { store: last, lost } = lostProcess(store, (unit) => keeps(unit, 'turn.recorded'), { stillReads: true })
    const doomed = await createBatonpass({ store: last })
    void doomed.run({ runtime, agent: 'claude', prompt: TASK, leaseMs: LEASE_MS }).finish()
    await lost
    await passTime(LEASE_MS + 1)
    const batonpass = await createBatonpass({ store })
    const recovered = await batonpass.recover({ runtimes: [runtime] })
    expect(recovered).toMatchObject([{ type: 'resumed', summary: { outcome: 'completed', restarts: 1 } }])
  })
})

describe('handed to a worker', () => {
  it('work whose source only advised by default is restarted', async () => {
    const batonpass = await createBatonpass({ store })
    const { handoffs } = batonpass
    const { conversation } = unwrap(await handoffs.openConversation({ originalTask: TASK }))
    const asked = { conversationId: conversation.id, agentName: 'planner', backend: 'scripted', prompt: TASK }
    const started = unwrap(await handoffs.startSession(asked))
    const { session, holder } = unwrap(
      await handoffs.recordTurn({ ...started, messages: [{ role: 'assistant', text: 'A plan.' }] }),
    )
    const wish = { targetAgent: 'worker', reason: 'Build it.', document: 'The plan.' }
    unwrap(await handoffs.initiateHandoff({ session, holder, ...wish }))
    const stop = new AbortController()
    const summary = await batonpass.work({
      agents: { worker: restarting() },
      signal: stop.signal,
      onEvent: ({ type }) => type === 'run:end' && stop.abort(),
    })
    expect(summary.ended).toEqual({ completed: 1 })
    const { handoffs: passed } = await recorded(batonpass, { conversationId: conversation.id })
    expect(passed.map(({ kind, status }) => `${kind} ${status}`)).toEqual([
      'agent_transfer completed',
      'context_restart completed',
    ])
  })
})
