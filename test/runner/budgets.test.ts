import { beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/entry/container.ts'
import { type Batonpass, createBatonpass, unwrap } from '../../src/entry/index.ts'
import { MemoryStore } from '../../src/entry/memory.ts'
import type { Store } from '../../src/entry/ports.ts'
import { ENDS, FILLS, logged, play, recorded, script } from './played.ts'

let store: Store
let batonpass: Batonpass

beforeEach(async () => {
  store = new MemoryStore({ clock: systemClock })
  batonpass = await createBatonpass({ store })
})

const KEY = 'budgets'
const ONE = { maxRestarts: 1, whenExhausted: 'stop' } as const
const filling = (windows = 5) =>
  script(Array.from({ length: windows }, (_, index) => ({ turns: FILLS, checkpoint: `Checkpoint ${index + 1}.` })))

/** A conversation whose one restart is used up, with a checkpoint on record. */
const exhausted = async () => {
  const { summary } = await play(batonpass, filling(), { conversation: KEY, budget: ONE })
  expect(summary).toMatchObject({ outcome: 'exhausted', limit: 'restarts', restarts: 1 })
  return summary
}

describe('a run of a conversation whose restarts are used up', () => {
  it('with the same prompt launches nothing: asking again is no new work', async () => {
    await exhausted()
    const runtime = filling()
    const { summary } = await play(batonpass, runtime, { conversation: KEY })
    expect(summary).toMatchObject({ outcome: 'exhausted', limit: 'restarts', sessions: 0 })
    expect(runtime.launches).toEqual([])
    const { sessions } = await recorded(batonpass, summary)
    expect(sessions.map(({ state }) => state)).toEqual(['handed_off', 'failed'])
  })

  it('with a new prompt has all its restarts again, and starts from the checkpoint on record', async () => {
    await exhausted()
    const runtime = script([{ turns: FILLS, checkpoint: 'Later.' }, { turns: ENDS }])
    const { summary } = await play(batonpass, runtime, { conversation: KEY, prompt: 'Now the docs' })
    expect(summary).toMatchObject({ outcome: 'completed', restarts: 1 })
    expect(runtime.launches[0]?.prompt).toContain('Checkpoint 1.')
    expect(runtime.launches[0]?.prompt).toContain('Now the docs')
    expect(await logged(batonpass, summary)).toContain('conversation.asked')
    const again = await play(batonpass, filling(), { conversation: KEY, prompt: 'Now the docs' })
    expect(again.summary.restarts).toBe(0)
  })

  it('with a new prompt is worked on though there were no restarts to use up, and a rerun of that is as well', async () => {
    const none = { maxRestarts: 0, whenExhausted: 'stop' } as const
    const first = await play(batonpass, filling(), { conversation: KEY, budget: none })
    expect(first.summary).toMatchObject({ outcome: 'exhausted', limit: 'restarts' })
    const same = await play(batonpass, filling(), { conversation: KEY })
    expect(same.summary).toMatchObject({ outcome: 'exhausted', limit: 'restarts', sessions: 0 })
    const broken = script([{ turns: [], end: { type: 'failed', message: 'No' } }])
    await play(batonpass, broken, { conversation: KEY, prompt: 'Now the docs' })
    const { summary } = await play(batonpass, script([{ turns: ENDS }]), { conversation: KEY, prompt: 'Now the docs' })
    expect(summary).toMatchObject({ outcome: 'completed', sessions: 1 })
    const { sessions } = await recorded(batonpass, summary)
    expect(sessions.map(({ state }) => state)).toEqual(['failed', 'failed', 'completed'])
  })

  it('with a larger number goes on from the checkpoint on record, and the change is in the log', async () => {
    await exhausted()
    const runtime = script([{ turns: ENDS }])
    const { summary } = await play(batonpass, runtime, { conversation: KEY, budget: { maxRestarts: 2 } })
    expect(summary).toMatchObject({ outcome: 'completed' })
    expect(runtime.launches[0]?.prompt).toContain('Checkpoint 1.')
    const conversation = await batonpass.history.conversationByKey(KEY)
    expect(conversation?.restartBudget).toEqual({ maxRestarts: 2, whenExhausted: 'stop' })
    expect(await logged(batonpass, summary)).toContain('conversation.budget_set')
    expect(unwrap(await batonpass.audit.verify(summary.conversationId)).intact).toBe(true)
  })
})

describe('a session that ends its process again and again', () => {
  it('is taken over as often as its budget says, and then failed, whatever the restarts', async () => {
    const budget = { maxRestarts: 0, maxTakeovers: 2, whenExhausted: 'stop' } as const
    const { conversation } = unwrap(
      await batonpass.handoffs.openConversation({ originalTask: 'T', externalKey: KEY, restartBudget: budget }),
    )
    const agent = { agentName: 'claude', backend: 'scripted', prompt: 'T', leaseMs: 1 }
    const { session } = unwrap(await batonpass.handoffs.startSession({ conversationId: conversation.id, ...agent }))
    for (const _ of [1, 2]) {
      await new Promise((resolve) => setTimeout(resolve, 10))
      unwrap(await batonpass.handoffs.takeOverSession({ session: session.id, leaseMs: 1, ifAbandoned: true }))
    }
    await new Promise((resolve) => setTimeout(resolve, 10))
    const runtime = script([{ turns: ENDS }])
    const [recovery] = await batonpass.recover({ runtimes: [runtime] })
    expect(recovery).toMatchObject({ type: 'resumed', summary: { outcome: 'exhausted', limit: 'takeovers' } })
    expect(runtime.launches).toEqual([])
    const { sessions } = await recorded(batonpass, { conversationId: conversation.id })
    expect(sessions).toMatchObject([{ state: 'failed', endedBy: 'takeovers', takeovers: 3 }])
    const rerun = await play(batonpass, runtime, { conversation: KEY, prompt: 'T' })
    expect(rerun.summary).toMatchObject({ outcome: 'exhausted', limit: 'takeovers' })
    expect(runtime.launches).toEqual([])
  })
})
