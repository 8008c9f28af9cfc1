import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/container.ts'
import { type Batonpass, createBatonpass, everyPage, type RunEvent, type RunSummary, unwrap } from '../../src/index.ts'
import { MemoryStore } from '../../src/memory.ts'
import type { CastRunRequest } from '../../src/services/runner/cast.ts'
import type { Script, ScriptedRuntime, ScriptedTurn } from '../../src/testing/index.ts'
import { recorded, script, TASK, turn } from './played.ts'

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
