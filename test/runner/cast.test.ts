import { describe, expect, it } from 'vitest'
import { type Batonpass, createBatonpass, type RunEvent, type RunSummary, unwrap } from '../../src/entry/index.ts'
import type { MemoryStore } from '../../src/entry/memory.ts'
import type { Launch, RuntimeQuestion, Unit } from '../../src/entry/ports.ts'
import { type Script, ScriptedRuntime, type ScriptedTurn } from '../../src/entry/testing.ts'
import type { CastRunRequest } from '../../src/services/run/cast.ts'
import { lostProcess } from '../support/lost-process.ts'
import { onMemory } from './on-memory.ts'
import { functionHook, recorded, runtimeOf, spoken, TASK, turn, types } from './played.ts'

let batonpass: Batonpass
let store: MemoryStore
onMemory((made) => {
  ;({ batonpass, store } = made)
})

const to = (name: string, more: object = {}) => ({ ...turn(100, 'plan'), handsOver: { to: name, ...more } })
const says = (...turns: readonly ScriptedTurn[]): Script['windows'] => [{ turns, checkpoint: 'Half is done.' }]

interface Outcome {
  readonly summary: RunSummary
  readonly events: readonly RunEvent[]
}

const playCast = async (agents: CastRunRequest['agents'], more: Partial<CastRunRequest> = {}): Promise<Outcome> => {
  const run = batonpass.run({ agents, start: 'planner', prompt: TASK, policy: 'auto', ...more })
  const events: RunEvent[] = []
  run.on((event) => events.push(event))
  for await (const _ of run);
  return { summary: await run.summary, events }
}

const agentsOf = async (summary: RunSummary) =>
  (await recorded(batonpass, summary)).sessions.map(({ agentName, backend, model, state }) => ({
    agentName,
    backend,
    model,
    state,
  }))

describe('a run of several agents', () => {
  it('lets the agent that was named continue, in its own runtime, from the checkpoint', async () => {
    const planner = runtimeOf('thinks', says(to('coder', { reason: 'The plan stands.' }), turn(120)))
    const coder = runtimeOf('types', says(turn(50, 'edit'), turn(60)))
    const { summary, events } = await playCast({ planner, coder: { runtime: coder, model: 'small' } })
    expect(summary).toMatchObject({ outcome: 'completed', sessions: 2, transfers: 1, restarts: 0 })
    expect(await agentsOf(summary)).toEqual([
      { agentName: 'planner', backend: 'thinks', model: undefined, state: 'handed_off' },
      { agentName: 'coder', backend: 'types', model: 'small', state: 'completed' },
    ])
    const { handoffs } = await recorded(batonpass, summary)
    expect(handoffs).toMatchObject([
      {
        kind: 'agent_transfer',
        status: 'completed',
        sourceAgent: 'planner',
        targetAgent: 'coder',
        reason: 'The plan stands.',
        document: 'Half is done.',
        triggeringToolCalls: [{ toolName: 'plan' }],
      },
    ])
    expect(planner.questions).toHaveLength(1)
    const opening = coder.launches[0]?.prompt ?? ''
    for (const part of [TASK, 'Half is done.', '"planner"', 'The plan stands.']) expect(opening).toContain(part)
    expect(planner.launches).toHaveLength(1)
    expect(types(events)).toContain('agent:handoff:complete')
    expect(unwrap(await batonpass.audit.verify(summary.conversationId)).intact).toBe(true)
  })

  it('hands over once, however often the agent asks before it is stopped', async () => {
    const script = runtimeOf('thinks', says(to('coder'), to('stranger'), to('stranger')))
    const coder = new ScriptedRuntime({ backend: 'types', windows: says(turn(50, 'edit'), turn(60)) })
    const planner = {
      backend: 'thinks',
      takesSessionId: true,
      start: (launch: Launch) => ({ ...script.start(launch), interrupt: async () => undefined }),
      ask: (question: RuntimeQuestion) => script.ask(question),
    }
    const { summary } = await playCast({ planner, coder })
    expect(summary).toMatchObject({ outcome: 'completed', transfers: 1, sessions: 2 })
    expect((await recorded(batonpass, summary)).handoffs).toMatchObject([{ status: 'completed' }])
  })

  it('uses the document that is given, and asks nobody', async () => {
    const planner = runtimeOf('thinks', says(to('coder', { document: 'Do it like this.' })))
    const coder = runtimeOf('types', says(turn(50)))
    const { summary } = await playCast({ planner, coder })
    expect((await recorded(batonpass, summary)).handoffs[0]).toMatchObject({ document: 'Do it like this.' })
    expect(planner.questions).toEqual([])
    expect(coder.launches[0]?.prompt).toContain('Do it like this.')
  })

  it('goes there and back, each time in a fresh session, and says everything that was said', async () => {
    const planner = runtimeOf('thinks', [
      { turns: [to('coder')], checkpoint: 'Planned.' },
      { turns: [{ text: 'Reviewed.', promptTokens: 90 }] },
    ])
    const coder = runtimeOf('types', [{ turns: [{ ...to('planner'), text: 'Built.' }], checkpoint: 'Coded.' }])
    const { summary } = await playCast({ planner, coder })
    expect(summary).toMatchObject({ outcome: 'completed', transfers: 2, sessions: 3 })
    expect((await agentsOf(summary)).map(({ agentName }) => agentName)).toEqual(['planner', 'coder', 'planner'])
    const said = await spoken(store, summary)
    for (const text of ['assistant: At 100.', 'tool: ok', 'assistant: Built.', 'assistant: Reviewed.'])
      expect(said).toContain(text)
  })

  it('carries out a handoff that somebody initiates while it runs, with everything the agent said', async () => {
    let asked = false
    const planner = runtimeOf('thinks', says(turn(100, 'read'), turn(110, 'look'), turn(120), turn(130)), {
      onStep: async ({ message }) => {
        if (asked || message?.text !== 'At 120.') return
        asked = true
        const [session] = (await recorded(batonpass, { conversationId: await only() })).sessions
        unwrap(
          await batonpass.handoffs.initiateHandoff({
            session: session?.id as never,
            byHand: true,
            targetAgent: 'coder',
            reason: 'Now.',
          }),
        )
      },
    })
    const only = async () => (await store.conversations.list({}, { limit: 1 })).items[0]?.id as never
    const coder = runtimeOf('types', says(turn(50)))
    const { summary } = await playCast({ planner, coder })
    expect(summary).toMatchObject({ outcome: 'completed', transfers: 1 })
    const said = await spoken(store, summary)
    for (const text of ['assistant: At 100.', 'assistant: At 110.', 'assistant: At 120.']) expect(said).toContain(text)
    const { handoffs, sessions } = await recorded(batonpass, summary)
    expect(handoffs).toMatchObject([{ status: 'completed', reason: 'Now.', document: 'Half is done.' }])
    expect(sessions.map(({ state }) => state)).toEqual(['handed_off', 'completed'])
  })

  it('ends as handed over when nobody of that name takes part, and leaves the handoff with its checkpoint', async () => {
    const planner = runtimeOf('thinks', says(to('stranger'), turn(120)))
    const { summary, events } = await playCast({ planner })
    expect(summary).toMatchObject({ outcome: 'handed_over', transfers: 0 })
    expect(summary.reason).toContain('"stranger"')
    const { handoffs, sessions } = await recorded(batonpass, summary)
    expect(handoffs).toMatchObject([{ status: 'initiated', targetAgent: 'stranger', document: 'Half is done.' }])
    expect(sessions).toMatchObject([{ state: 'paused', heldBy: handoffs[0]?.id }])
    expect(types(events)).toContain('agent:handoff:left')
    const taken = unwrap(await batonpass.handoffs.claimNext({ targetAgent: 'stranger', claimant: 'worker' }))
    expect(taken.handoff?.id).toBe(handoffs[0]?.id)
  })

  it('ends as handed over also for one agent alone, with the latest answer on record', async () => {
    const planner = runtimeOf('thinks', says(turn(100, 'read'), turn(110)), {
      onStep: async ({ message }) => {
        if (message?.text !== 'At 110.') return
        const conversationId = (await store.conversations.list({}, { limit: 1 })).items[0]?.id as never
        const [session] = (await recorded(batonpass, { conversationId })).sessions
        unwrap(
          await batonpass.handoffs.initiateHandoff({
            session: session?.id as never,
            byHand: true,
            targetAgent: 'coder',
          }),
        )
      },
    })
    const run = batonpass.run({ runtime: planner, agent: 'planner', prompt: TASK })
    const summary = await run.finish()
    expect(summary.outcome).toBe('handed_over')
    expect(await spoken(store, summary)).toContain('assistant: At 110.')
  })

  it('restarts an agent whose window is full, and hands over after that', async () => {
    const planner = runtimeOf('thinks', [
      { turns: [turn(100, 'read'), turn(900, 'edit')], checkpoint: 'Full.' },
      { turns: [to('coder')], checkpoint: 'Planned.' },
    ])
    const coder = runtimeOf('types', says(turn(50)))
    const { summary } = await playCast({ planner, coder })
    expect(summary).toMatchObject({ outcome: 'completed', restarts: 1, transfers: 1, sessions: 3 })
    expect((await recorded(batonpass, summary)).handoffs.map(({ kind }) => kind)).toEqual([
      'context_restart',
      'agent_transfer',
    ])
  })

  it('watches each agent by its own limits, and calls its own hooks', async () => {
    const called: string[] = []
    const hook = (name: string) => functionHook('on_session_start', async () => void called.push(name))
    const planner = { runtime: runtimeOf('thinks', says(to('coder'))), hooks: [hook('of planner')] }
    const coder = {
      runtime: runtimeOf('types', [
        { turns: [turn(300, 'edit'), turn(310)], checkpoint: 'Small.' },
        { turns: [turn(20)] },
      ]),
      contextLimit: 320,
      hooks: [hook('of coder')],
    }
    const { summary } = await playCast({ planner, coder })
    expect(summary).toMatchObject({ outcome: 'completed', transfers: 1, restarts: 1 })
    expect(called).toEqual(['of planner', 'of coder', 'of coder'])
  })

  it('stops two agents that only hand the work to each other', async () => {
    const idle = (name: string): Script['windows'] => [
      { turns: [{ text: 'You do it.', promptTokens: 9, handsOver: { to: name, document: 'Yours.' } }] },
    ]
    const { summary } = await playCast({
      planner: runtimeOf('thinks', idle('coder')),
      coder: runtimeOf('types', idle('planner')),
    })
    expect(summary).toMatchObject({ outcome: 'exhausted', limit: 'no_progress', transfers: 6 })
    expect(summary.reason).toContain('neither does anything')
    const { handoffs, sessions } = await recorded(batonpass, summary)
    expect(handoffs.at(-1)?.status).toBe('failed')
    expect(sessions.at(-1)?.state).toBe('failed')
  })

  it('ends as the agent that has the session when its successor cannot begin', async () => {
    const called: string[] = []
    const told = (name: string) => functionHook('on_error', async () => void called.push(name))
    const fails = () => Promise.reject(new Error('Not today'))
    const refuses = functionHook('on_session_start', fails, { shouldContinueOnError: false })
    const planner = { runtime: runtimeOf('thinks', says(to('coder'))), hooks: [told('planner')] }
    const coder = { runtime: runtimeOf('types', says(turn(50))), hooks: [refuses, told('coder')] }
    const { summary } = await playCast({ planner, coder })
    expect(summary.outcome).toBe('failed')
    expect(called).toEqual(['planner'])
  })

  it('hands over where a threshold hook says so', async () => {
    const answer = { decision: 'handoff', to: 'coder', reason: 'Full.', document: 'All of it.' }
    const hook = functionHook('on_context_threshold', async () => JSON.stringify(answer))
    const planner = {
      runtime: runtimeOf('thinks', says(turn(100, 'read'), turn(900, 'edit'), turn(910))),
      hooks: [hook],
    }
    const coder = runtimeOf('types', says(turn(50)))
    const { summary } = await playCast({ planner, coder })
    expect(summary).toMatchObject({ outcome: 'completed', transfers: 1, restarts: 0 })
    expect((await recorded(batonpass, summary)).handoffs).toMatchObject([
      { kind: 'agent_transfer', document: 'All of it.' },
    ])
  })

  it('refuses to begin without a runtime for each agent, or with an agent that is none of them', async () => {
    const planner = runtimeOf('thinks', says(turn(9)))
    const start = (request: object) => batonpass.run(request as never).finish()
    await expect(start({ agents: {}, start: 'a', prompt: TASK })).rejects.toThrow('at least one agent')
    await expect(start({ agents: { planner, coder: {} }, start: 'planner', prompt: TASK })).rejects.toThrow(
      '"coder" needs a runtime',
    )
    await expect(start({ agents: { planner }, start: 'coder', prompt: TASK })).rejects.toThrow(
      'start names one of the agents',
    )
    expect((await store.conversations.list({}, { limit: 1 })).items).toEqual([])
  })

  it.each([
    ['turn.recorded', 1],
    ['handoff.checkpointed', 1],
    ['handoff.accepted', 1],
    ['handoff.prepared', 1],
    ['handoff.completed', 1],
    ['turn.recorded', 2],
  ])('is finished by the next run when its process is lost after %s (%i)', async (entry, times) => {
    let left = times
    const isLast = ({ events }: Unit): boolean => events.some(({ type }) => type === entry) && --left === 0
    const { store: last, lost } = lostProcess(store, isLast, { stillReads: true })
    const planner = runtimeOf('thinks', says(to('coder'), turn(120)))
    const coder = runtimeOf('types', says(turn(50, 'edit'), turn(60)))
    const doomed = await createBatonpass({ store: last })
    const cast = { agents: { planner, coder }, start: 'planner', prompt: TASK, conversation: 'job-1' } as const
    void doomed.run({ ...cast, leaseMs: 1 }).finish()
    await lost
    const summary = await batonpass.run({ ...cast, leaseMs: 60_000 }).finish()
    expect(summary.outcome).toBe('completed')
    const { sessions, handoffs } = await recorded(batonpass, summary)
    expect(sessions.map(({ agentName, state }) => [agentName, state])).toEqual([
      ['planner', 'handed_off'],
      ['coder', 'completed'],
    ])
    expect(handoffs).toMatchObject([
      { status: 'completed', targetAgent: 'coder', triggeringToolCalls: [{ toolName: 'plan' }] },
    ])
    expect(planner.launches).toHaveLength(1)
    expect((await spoken(store, summary)).filter((line) => line === 'assistant: At 100.')).toHaveLength(1)
    expect(unwrap(await batonpass.audit.verify(summary.conversationId)).intact).toBe(true)
  })

  it('is recovered with its cast', async () => {
    const isLast = ({ events }: Unit): boolean => events.some(({ type }) => type === 'handoff.accepted')
    const { store: last, lost } = lostProcess(store, isLast, { stillReads: true })
    const agents = { planner: runtimeOf('thinks', says(to('coder'))), coder: runtimeOf('types', says(turn(50))) }
    const doomed = await createBatonpass({ store: last })
    void doomed.run({ agents, start: 'planner', prompt: TASK, leaseMs: 1 }).finish()
    await lost
    const recovered = await batonpass.recover({ agents, wait: true })
    expect(recovered).toMatchObject([{ type: 'resumed', summary: { outcome: 'completed', transfers: 1 } }])
    expect(agents.coder.launches).toHaveLength(1)
  })

  it('is recovered with the hooks that each agent has', async () => {
    const called: string[] = []
    const hook = (name: string) => functionHook('on_session_start', async () => void called.push(name))
    const isLast = ({ events }: Unit): boolean => events.some(({ type }) => type === 'handoff.accepted')
    const { store: last, lost } = lostProcess(store, isLast, { stillReads: true })
    const agents = { planner: runtimeOf('thinks', says(to('coder'))), coder: runtimeOf('types', says(turn(50))) }
    const doomed = await createBatonpass({ store: last })
    void doomed.run({ agents, start: 'planner', prompt: TASK, leaseMs: 1 }).finish()
    await lost
    const settings = new Map([
      ['planner', { hooks: [hook('planner')] }],
      ['coder', { hooks: [hook('coder')] }],
    ])
    const configured = await createBatonpass({ store, agents: settings })
    await configured.recover({ agents, wait: true })
    expect(called).toEqual(['coder'])
  })
})
