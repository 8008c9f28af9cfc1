import { describe, expect, it } from 'vitest'
import { type Batonpass, createBatonpass, unwrap } from '../../src/entry/index.ts'
import type { MemoryStore } from '../../src/entry/memory.ts'
import type { Launch, RuntimeQuestion, Unit } from '../../src/entry/ports.ts'
import { lostProcess } from '../support/lost-process.ts'
import { connected } from '../support/tools-client.ts'
import { onMemory } from './on-memory.ts'
import { functionHook, recorded, script, sleep, TASK, turn } from './played.ts'

let batonpass: Batonpass
let store: MemoryStore
onMemory((made) => {
  ;({ batonpass, store } = made)
})

const handing = (to: string) =>
  script([{ turns: [{ ...turn(100, 'plan'), handsOver: { to } }], checkpoint: 'Planned.' }], {
    backend: 'thinks',
    takesTools: true,
  })
const coding = () => script([{ turns: [turn(50, 'edit')] }], { backend: 'types' })

describe('a handoff between agents', () => {
  it('is asked for no more once it has begun', async () => {
    const inner = handing('coder')
    let endpoint: Launch['tools']
    let said: unknown
    const planner = {
      backend: 'thinks',
      takesSessionId: true,
      takesTools: true,
      start: (launch: Launch) => {
        endpoint = launch.tools
        return inner.start(launch)
      },
      ask: async (question: RuntimeQuestion) => {
        if (endpoint === undefined) throw new Error('No tools were offered')
        await using client = await connected(endpoint)
        said = await client.callTool({ name: 'handoff', arguments: { to: 'tester' } })
        return inner.ask(question)
      },
    }
    const agents = { planner, coder: coding(), tester: coding() }
    const summary = await batonpass.run({ agents, start: 'planner', prompt: TASK, policy: 'auto' }).finish()
    expect(JSON.stringify(said)).toContain('handoff.already_open')
    const { handoffs } = await recorded(batonpass, summary)
    expect(handoffs.map(({ targetAgent, status }) => [targetAgent, status])).toEqual([['coder', 'completed']])
  })

  it('is not claimed for a model without a price where the cost has a cap, and the source ends the run', async () => {
    const called: string[] = []
    const told = (name: string) => functionHook('on_error', async () => void called.push(name))
    const priced = await createBatonpass({ store, priceOf: (model) => (model === 'known' ? 0.001 : undefined) })
    const coder = coding()
    const agents = {
      planner: { runtime: handing('coder'), model: 'known', hooks: [told('planner')] },
      coder: { runtime: coder, model: 'house-model', hooks: [told('coder')] },
    }
    const budget = { maxCostUsd: 5 }
    const run = priced.run({ agents, start: 'planner', prompt: TASK, policy: 'auto', budget, conversation: 'job' })
    const summary = await run.finish()
    expect(summary).toMatchObject({ outcome: 'failed', reason: expect.stringContaining('house-model') as unknown })
    expect(coder.launches).toEqual([])
    expect(called).toEqual(['planner'])
    const { handoffs, sessions } = await recorded(priced, summary)
    expect(sessions.map(({ agentName, state }) => [agentName, state])).toEqual([['planner', 'failed']])
    expect(handoffs.map(({ status }) => status)).toEqual(['failed'])
  })

  it('that only bounces is failed by a worker, and its source, which nobody holds, is left as it is', async () => {
    const { handoffs } = batonpass
    const { conversation } = unwrap(await handoffs.openConversation({ originalTask: TASK }))
    const agent = { conversationId: conversation.id, agentName: 'planner', backend: 'by hand' }
    let working = unwrap(await handoffs.startSession(agent))
    const messages = [{ role: 'assistant' as const, text: 'You do it.' }]
    for (let passed = 0; passed <= 6; passed += 1) {
      const worked = { ...working, ...unwrap(await handoffs.recordTurn({ ...working, messages })) }
      const targetAgent = passed % 2 === 0 ? 'coder' : 'planner'
      const { handoff } = unwrap(await handoffs.initiateHandoff({ ...worked, targetAgent, document: 'Yours.' }))
      if (passed < 6) working = unwrap(await handoffs.completeHandoff({ handoff }))
    }
    const coder = coding()
    const stop = new AbortController()
    const working2 = batonpass.work({ agents: { coder }, pollMs: { least: 2, most: 10 }, signal: stop.signal })
    while ((await batonpass.history.openHandoffs()).items.length > 0) await sleep(5)
    stop.abort()
    await working2
    expect(coder.launches).toEqual([])
    const kept = await recorded(batonpass, { conversationId: conversation.id })
    expect(kept.handoffs.at(-1)).toMatchObject({
      status: 'failed',
      endReason: expect.stringContaining('neither does anything') as unknown,
    })
    expect(kept.sessions.at(-1)).toMatchObject({ agentName: 'planner', state: 'active' })
  })

  it('that has its checkpoint and is for others is left to them by whoever recovers', async () => {
    const isLast = ({ events }: Unit): boolean => events.some(({ type }) => type === 'handoff.checkpointed')
    const { store: last, lost } = lostProcess(store, isLast, { stillReads: true })
    const planner = handing('coder')
    const doomed = await createBatonpass({ store: last })
    const all = { planner, coder: coding() }
    void doomed.run({ agents: all, start: 'planner', prompt: TASK, policy: 'auto', leaseMs: 1 }).finish()
    await lost
    await sleep(5)
    expect(await batonpass.recover({ agents: { planner } })).toMatchObject([{ type: 'handed_over' }])
    // A worker claims it, so that nobody has it twice.
    expect(await batonpass.recover({ agents: all, leaveOthers: true })).toMatchObject([{ type: 'handed_over' }])
    expect((await batonpass.history.openHandoffs()).items).toMatchObject([
      { status: 'initiated', targetAgent: 'coder', document: 'Planned.' },
    ])
    expect(all.coder.launches).toEqual([])
    expect(await batonpass.recover({ agents: all })).toMatchObject([
      { type: 'resumed', summary: { outcome: 'completed' } },
    ])
  })
})
