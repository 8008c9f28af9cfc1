import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/entry/container.ts'
import {
  type AgentRuntime,
  type Batonpass,
  createBatonpass,
  everyPage,
  type RunEvent,
  type RunSummary,
  unwrap,
} from '../../src/entry/index.ts'
import { MemoryStore } from '../../src/entry/memory.ts'
import type { Unit } from '../../src/entry/ports.ts'
import type { Script, ScriptedRuntime, ScriptedTurn } from '../../src/entry/testing.ts'
import type { CastRunRequest } from '../../src/services/run/cast.ts'
import { lostProcess } from '../support/lost-process.ts'
import { functionHook, recorded, script, sleep, TASK, turn } from './played.ts'

let batonpass: Batonpass
let store: MemoryStore
beforeEach(async () => {
  store = new MemoryStore({ clock: systemClock })
  batonpass = await createBatonpass({ store })
})
afterEach(() => batonpass.close())

const says = (...turns: readonly ScriptedTurn[]): Script['windows'] => [{ turns, checkpoint: 'Half is done.' }]
const agent = (backend: string, windows: Script['windows'], more: Partial<Script> = {}): ScriptedRuntime =>
  script(windows, { backend, ...more })
const said = (text: string): ScriptedTurn => ({ text, promptTokens: 50, tools: ['edit'] })
const delegates = (...tasks: readonly string[]): ScriptedTurn => ({
  ...turn(100, 'delegate'),
  delegates: tasks.map((task) => ({ to: 'coder', task })),
  rests: true,
})

const play = async (agents: CastRunRequest['agents'], more: Partial<CastRunRequest> = {}) => {
  const run = batonpass.run({ agents, start: 'planner', prompt: TASK, policy: 'auto', ...more })
  const events: RunEvent[] = []
  run.on((event) => events.push(event))
  for await (const _ of run);
  return { summary: await run.summary, events }
}

const reportsOf = async ({ conversationId }: Pick<RunSummary, 'conversationId'>) => {
  const messages = []
  for await (const message of everyPage((page) => store.messages.listMessages(conversationId, page)))
    if (message.reports !== undefined) messages.push(message)
  return messages
}

describe('threads that this process cannot finish', () => {
  it('are reported as stopped when their agent was interrupted, and not run again and again', async () => {
    const planner = agent('thinks', says(delegates('Write the parser'), turn(120)))
    const coder = agent('types', [{ turns: [said('Half.')], end: { type: 'interrupted' } }])
    const stop = new AbortController()
    const start = coder.resume?.bind(coder)
    Object.assign(coder, {
      resume: (launch: never) => {
        if (coder.launches.length > 5) stop.abort(new Error('run again and again'))
        return start?.(launch)
      },
    })
    const { summary } = await play({ planner, coder }, { signal: stop.signal })
    expect(coder.launches).toHaveLength(1)
    expect(summary.outcome).toBe('completed')
    expect((await reportsOf(summary))[0]?.text).toMatch(
      /has stopped before it was done\. The reason: "The agent was inter/,
    )
  })

  it('are reported as stopped when they fail before they are held', async () => {
    const stop = new AbortController()
    const planner = agent('thinks', says(delegates('Write the parser'), turn(120)))
    let asked = 0
    const coder = agent('types', says(said('Half.'), said('Parsed.')), {
      onStep: async ({ message }) => {
        if (message?.text === 'Half.') stop.abort(new Error('enough'))
      },
    })
    const request = { conversation: 'job-1' }
    await play({ planner, coder }, { ...request, signal: stop.signal })
    const again = new AbortController()
    Object.assign(coder, {
      has: async () => {
        asked += 1
        if (asked > 5) again.abort(new Error('run again and again'))
        throw new Error('No access')
      },
    })
    const { summary } = await play({ planner, coder }, { ...request, signal: again.signal })
    expect(asked).toBe(1)
    expect(summary.outcome).toBe('completed')
    expect((await reportsOf(summary))[0]?.text).toMatch(/has stopped before it was done\. The reason: "No access"/)
  })
})

describe('threads that others work', () => {
  it('are waited for, and that is said', async () => {
    const stop = new AbortController()
    const planner = agent('thinks', says(delegates('Write the parser'), turn(120)))
    const coder = agent('types', says({ ...said('Not mine.'), handsOver: { to: 'stranger', document: 'Over.' } }))
    const run = batonpass.run({ agents: { planner, coder }, start: 'planner', prompt: TASK, signal: stop.signal })
    const codes: string[] = []
    run.on((event) => {
      if (event.type !== 'run:warning' || event.code !== 'thread.waits') return
      codes.push(event.code)
      stop.abort(new Error('enough'))
    })
    await run.finish()
    expect(codes).toEqual(['thread.waits'])
  })
})

describe('a parent whose window is full when it comes to rest', () => {
  it('is told in a fresh window', async () => {
    const { rests: _, ...first } = delegates('Write the parser')
    const planner = agent('thinks', [
      { turns: [first, { ...turn(900), rests: true }, turn(950, 'edit'), turn(980)], checkpoint: 'Half is done.' },
      { turns: [turn(50)] },
    ])
    const { summary } = await play({ planner, coder: agent('types', says(said('Parsed.'))) })
    expect(summary).toMatchObject({ outcome: 'completed', restarts: 1 })
    expect(planner.launches.at(-1)).toMatchObject({ how: 'start', prompt: expect.stringContaining('Parsed.') })
  })
})

describe('a wish to delegate beside a wish to hand over', () => {
  it('is carried out before the work goes to an agent that takes no part', async () => {
    const both = { ...delegates('Write the parser'), handsOver: { to: 'stranger', document: 'Over.' } }
    const planner = agent('thinks', says(both))
    const coder = agent('types', says(said('Parsed.')))
    const { summary } = await play({ planner, coder })
    expect(summary).toMatchObject({ outcome: 'handed_over', threads: 1 })
    expect((await recorded(batonpass, summary)).handoffs.map(({ kind }) => kind).sort()).toEqual([
      'agent_transfer',
      'thread',
    ])
  })

  it('is told to the successor', async () => {
    const both = { ...delegates('Write the parser'), handsOver: { to: 'reviewer', document: 'Over.' } }
    const planner = agent('thinks', says(both))
    const coder = agent('types', says(said('Parsed.')))
    const reviewer = agent('reviews', says({ ...turn(50), rests: true }, turn(60)))
    const { summary } = await play({ planner, coder, reviewer })
    expect(summary).toMatchObject({ outcome: 'completed', threads: 1 })
    expect(reviewer.launches[0]?.prompt).toContain('Write the parser')
  })
})

describe('a wish in the turn that fills the window', () => {
  it('is told to the successor', async () => {
    const planner = agent('thinks', [
      {
        turns: [{ ...turn(900, 'delegate'), delegates: [{ to: 'coder', task: 'Write the parser' }] }, turn(910)],
        checkpoint: 'Half.',
      },
      { turns: [{ ...turn(50), rests: true }, turn(60)] },
    ])
    const coder = agent('types', says(said('Parsed.')))
    const { summary } = await play({ planner, coder })
    expect(summary).toMatchObject({ outcome: 'completed', threads: 1, restarts: 1 })
    expect(planner.launches[1]?.prompt).toContain('Write the parser')
  })
})

describe('a parent that failed while its threads worked', () => {
  it('has a successor that is told which threads are at work', async () => {
    const { rests: _, ...first } = delegates('Write the parser')
    let isFirst = true
    const planner = agent('thinks', [
      { turns: [first, turn(110)], end: { type: 'failed', message: 'No disk left' } },
      { turns: [{ ...turn(50), rests: true }, turn(60)] },
    ])
    const coder = agent('types', says(said('Half.'), said('Parsed.')), {
      onStep: async ({ message }) => {
        if (message?.text === 'Half.' && isFirst) {
          isFirst = false
          await new Promise((resolve) => setTimeout(resolve, 200))
        }
      },
    })
    const one = await play({ planner, coder }, { conversation: 'job-1' })
    expect(one.summary.outcome).toBe('failed')
    const two = await play({ planner, coder }, { conversation: 'job-1' })
    expect(two.summary.outcome).toBe('completed')
    expect(planner.launches[1]?.prompt).toContain('Write the parser')
    expect(await reportsOf(two.summary)).toHaveLength(1)
  })
})

describe('the answer of a thread', () => {
  it('is cut between characters', async () => {
    const planner = agent('thinks', says(delegates('Write the parser'), turn(120)))
    const coder = agent('types', says(said(`${'a'.repeat(19_999)}😀 and more`)))
    const { summary } = await play({ planner, coder })
    const [report] = await reportsOf(summary)
    expect(Buffer.from(report?.text ?? '').toString()).toBe(report?.text)
  })
})

describe('a parent that was handed to an agent that takes no part', () => {
  it('has its threads finished, though a worker takes the handoff up meanwhile', async () => {
    const { rests: _, ...first } = delegates('Write the parser')
    const planner = agent('thinks', says(first, { ...turn(110), handsOver: { to: 'stranger', document: 'Over.' } }))
    let isTaken = (): void => undefined
    const taken = new Promise<void>((resolve) => {
      isTaken = resolve
    })
    const coder = agent('types', says(said('Half.'), said('Parsed.')), {
      onStep: async ({ message }) => {
        if (message?.text === 'Half.') await taken
      },
    })
    const run = batonpass.run({ agents: { planner, coder }, start: 'planner', prompt: TASK, leaseMs: 300 })
    run.on((event) => {
      if (event.type !== 'agent:handoff:left') return
      void (async () => {
        unwrap(await batonpass.handoffs.acceptHandoff({ handoff: event.handoffId, claimant: 'w' }))
        unwrap(
          await batonpass.handoffs.completeHandoff({
            handoff: event.handoffId,
            claimant: 'w',
            backend: 'x',
            leaseMs: 60_000,
          }),
        )
        setTimeout(isTaken, 400)
      })()
    })
    const summary = await run.finish()
    const lineage = await batonpass.history.lineage(summary.conversationId)
    expect(lineage?.threads).toMatchObject([{ sessions: [{ agentName: 'coder', state: 'completed' }] }])
    expect(summary.outcome).toBe('handed_over')
  })
})

describe('runs that delegate', () => {
  it('are not failed by wishes that cannot be read', async () => {
    const planner = agent('thinks', says({ ...turn(100), delegates: [null, 7, { to: 'coder' }] as never }, turn(120)))
    const { summary } = await play({ planner, coder: agent('types', says(said('Parsed.'))) })
    expect(summary.outcome).toBe('completed')
  })

  it('wait for a store that is away while an agent delegates', async () => {
    const { StoreFailure } = await import('../../src/ports/store/store-failure.ts')
    let away = 2
    const conversations = {
      ...store.conversations,
      findTree: async (id: never) => {
        if (away-- > 0) throw new StoreFailure('store.unavailable' as never, 'away')
        return store.conversations.findTree(id)
      },
    }
    const slow = await createBatonpass({ store: { ...store, unitOfWork: store.unitOfWork, conversations } as never })
    const planner = agent('thinks', says(delegates('Write the parser'), turn(120)))
    const coder = agent('types', says(said('Parsed.')))
    const summary = await slow.run({ agents: { planner, coder }, start: 'planner', prompt: TASK }).finish()
    expect(summary).toMatchObject({ outcome: 'completed', threads: 1 })
  })

  it('join many times without a warning of the process', async () => {
    const turns = Array.from({ length: 12 }, (_, i) => delegates(`Task ${i}`))
    const planner = agent('thinks', says(...turns, turn(120)))
    const coder = agent('types', says(said('Parsed.')))
    const warnings: string[] = []
    const onWarning = (warning: Error) => warnings.push(warning.message)
    process.on('warning', onWarning)
    const { summary } = await play({ planner, coder })
    process.off('warning', onWarning)
    expect(summary).toMatchObject({ outcome: 'completed', threads: 12 })
    expect(warnings).toEqual([])
    expect(await reportsOf(summary)).toHaveLength(12)
  })

  it('may delegate to the same agent, and their stream ends with their own end', async () => {
    const planner = agent('thinks', [
      { turns: [{ ...turn(100, 'delegate'), delegates: [{ to: 'planner', task: 'Self' }], rests: true }, turn(120)] },
      { turns: [turn(900, 'edit'), turn(910)], checkpoint: 'Half.' },
      { turns: [said('Self done.')] },
    ])
    const run = batonpass.run({ agents: { planner }, start: 'planner', prompt: TASK, policy: 'auto' })
    const items: string[] = []
    for await (const item of run.everything()) items.push(item.type)
    const summary = await run.summary
    expect(summary).toMatchObject({ outcome: 'completed', threads: 1, restarts: 0, sessions: 1 })
    expect(items.at(-1)).toBe('run:end')
    expect((await reportsOf(summary))[0]?.text).toContain('Self done.')
  })

  it('do not wait for threads that nobody delegated', async () => {
    const planner = agent('thinks', says(turn(100, 'read'), turn(110)), {
      onStep: async ({ message }) => {
        if (message?.text !== 'At 110.') return
        const [conversation] = (await store.conversations.list({ isRoot: true }, { limit: 1 })).items
        const [session] = (await recorded(batonpass, { conversationId: conversation?.id as never })).sessions
        unwrap(
          await batonpass.handoffs.openThread({
            session: session?.id as never,
            byHand: true,
            targetAgent: 'coder',
            backend: 'types',
          }),
        )
      },
    })
    const coder = agent('types', says(said('Never.')))
    const { summary } = await play({ planner, coder })
    expect(summary).toMatchObject({ outcome: 'completed', threads: 0 })
    expect(coder.launches).toEqual([])
  })

  it('launch nobody who has had its turns: the next run tells it', async () => {
    const planner = agent('thinks', says(delegates('Write the parser'), turn(120)))
    const coder = agent('types', says(said('Parsed.')))
    const { summary } = await play({ planner, coder }, { maxTurns: 1, conversation: 'job-1' })
    expect(summary).toMatchObject({ outcome: 'exhausted', limit: 'turns', turns: 1, threads: 1 })
    const [report] = await reportsOf(summary)
    const again = await play({ planner, coder }, { conversation: 'job-1' })
    expect(again.summary.outcome).toBe('completed')
    expect(planner.launches.at(-1)?.prompt).toContain(report?.text)
  })

  it('delegate though the handoff that was asked for in the same turn is refused', async () => {
    const both = { ...delegates('Write the parser'), handsOver: { to: 'planner', document: 'Over.' } }
    const { summary } = await play({
      planner: agent('thinks', says(both, turn(120))),
      coder: agent('types', says(said('Parsed.'))),
    })
    expect(summary).toMatchObject({ outcome: 'completed', threads: 1 })
  })
})

describe('a thread whose session its runtime has no longer', () => {
  it('is not reported as failed while it begins anew', async () => {
    const stop = new AbortController()
    const planner = agent('thinks', says(delegates('Write the parser'), turn(120)))
    const hook = functionHook('on_session_start', async () => {
      if (stop.signal.aborted) await sleep(1_000)
      return 'Mind the style.'
    })
    const half: ScriptedTurn = said('Half.')
    const coder = agent('types', [{ turns: [half, said('Never.')] }, { turns: [said('Parsed.')] }], {
      onStep: async ({ message }) => {
        if (message?.text === half.text) stop.abort(new Error('enough'))
      },
    })
    const agents = { planner, coder: { runtime: coder as AgentRuntime, hooks: [hook] } }
    await play(agents, { conversation: 'job-1', signal: stop.signal })
    Object.assign(coder, { has: async () => false })
    const { summary } = await play(agents, { conversation: 'job-1' })
    expect(summary.outcome).toBe('completed')
    expect((await reportsOf(summary))[0]?.text).toMatch(/has completed\.[\s\S]*Parsed\./)
  })
})

describe('a parent that is recovered without its cast', () => {
  it('leaves its threads to be reported by the next run with its agents', async () => {
    const isLast = ({ events }: Unit): boolean => events.some(({ type }) => type === 'handoff.completed')
    const { store: last, lost } = lostProcess(store, isLast, { stillReads: true })
    const planner = agent('thinks', says(delegates('Write the parser'), { ...turn(120), rests: true }, turn(130)))
    const agents = { planner, coder: agent('types', says(said('Parsed.'))) }
    const doomed = await createBatonpass({ store: last })
    void doomed.run({ agents, start: 'planner', prompt: TASK, conversation: 'job-1', leaseMs: 1 }).finish()
    await lost
    const [left] = await batonpass.recover({ runtimes: [planner], leaveOthers: true, wait: true })
    expect(left).toMatchObject({ type: 'left', waitsForThreads: true })
    const conversation = await store.conversations.findByExternalKey('job-1')
    const conversationId = conversation?.id as RunSummary['conversationId']
    expect((await recorded(batonpass, { conversationId })).sessions).toMatchObject([{ state: 'active' }])
    expect(await reportsOf({ conversationId })).toEqual([])
    await play(agents, { conversation: 'job-1' })
    expect((await reportsOf({ conversationId }))[0]?.text).toContain('Parsed.')
  })
})
