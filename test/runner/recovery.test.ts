import { describe, expect, it } from 'vitest'
import { createBatonpass, RefusedError, unwrap } from '../../src/entry/index.ts'
import { ScriptedRuntime } from '../../src/entry/testing.ts'
import { lostProcess } from '../support/lost-process.ts'
import { openStore, RULE_STORES } from '../support/stores.ts'
import { ENDS, FILLS, play, recorded, script, TASK, turn } from './played.ts'

const LEASE_MS = 150

let keys = 0

describe.each(RULE_STORES)('recovery on %s', (kind) => {
  const stage = async () => {
    const { store, passTime } = await openStore(kind)
    keys += 1
    return { store, passTime, key: `recovery-${process.pid}-${keys}`, batonpass: await createBatonpass({ store }) }
  }

  /** Runs until the process is lost, and lets its lease expire. */
  const lose = async (
    { store, passTime, key }: Awaited<ReturnType<typeof stage>>,
    runtime: ScriptedRuntime,
    commits: number,
  ) => {
    const { store: last, lost } = lostProcess(store, (_, number) => number === commits, { stillReads: true })
    const doomed = await createBatonpass({ store: last })
    const about = { runtime, agent: 'claude', prompt: TASK, conversation: key, leaseMs: LEASE_MS }
    const run = doomed.run({ ...about, policy: 'auto' })
    const survived = run.finish().then(() => Promise.reject(new Error('The process was not lost')))
    await Promise.race([lost, survived])
    await passTime(LEASE_MS + 100)
  }

  /** 1 conversation, 2 session, 3 attached, 4 turn, 5 turn with handoff, 6 checkpoint, 7 claim, 8 prepared, 9 completed, 10 attached … */
  it.each([3, 4, 5, 6, 7, 8, 9, 10, 11])('lost after %i commits, the work is finished once', async (commits) => {
    const set = await stage()
    // Should the turn that crosses be lost, the next one crosses.
    const runtime = script([{ turns: [...FILLS, turn(920, 'edit')], checkpoint: 'Half.' }, { turns: ENDS }])
    await lose(set, runtime, commits)
    const recovered = await set.batonpass.recover({ runtimes: [runtime] })
    const conversation = await set.batonpass.history.conversationByKey(set.key)
    const mine = recovered.filter(({ conversationId }) => conversationId === conversation?.id)
    expect(mine).toMatchObject([{ type: 'resumed', summary: { outcome: 'completed' } }])
    const { sessions, handoffs } = await recorded(set.batonpass, { conversationId: mine[0]?.conversationId as never })
    expect(sessions.map(({ state }) => state)).toEqual(['handed_off', 'completed'])
    expect(handoffs.map(({ status }) => status)).toEqual(['completed'])
    expect(handoffs[0]?.document).toBe('Half.')
    expect(await set.batonpass.audit.verify(sessions[0]?.conversationId as never)).toMatchObject({
      value: { intact: true },
    })
    const again = await set.batonpass.recover({ runtimes: [runtime] })
    expect(again.filter(({ conversationId }) => conversationId === conversation?.id)).toEqual([])
  })

  it('a run of the same conversation goes on from the record too', async () => {
    const set = await stage()
    const runtime = script([{ turns: FILLS, checkpoint: 'Half.' }, { turns: ENDS }])
    await lose(set, runtime, 6)
    const { summary } = await play(set.batonpass, runtime, { conversation: set.key })
    expect(summary).toMatchObject({ outcome: 'completed', restarts: 1 })
    expect((await recorded(set.batonpass, summary)).handoffs).toMatchObject([{ status: 'completed' }])
  })

  it('while its process lives, a conversation is left alone', async () => {
    const set = await stage()
    const { conversation } = unwrap(
      await set.batonpass.handoffs.openConversation({ originalTask: TASK, externalKey: set.key }),
    )
    const agent = { agentName: 'claude', backend: 'scripted', leaseMs: 60_000 }
    unwrap(await set.batonpass.handoffs.startSession({ conversationId: conversation.id, ...agent }))
    const refused = play(set.batonpass, script([{ turns: ENDS }]), { conversation: set.key })
    await expect(refused).rejects.toMatchObject({ code: 'session.leased' })
    await expect(refused).rejects.toBeInstanceOf(RefusedError)
    const recovered = await set.batonpass.recover({ runtimes: [script([{ turns: ENDS }])] })
    expect(recovered.filter(({ conversationId }) => conversationId === conversation.id)).toEqual([])
  })

  it('without a runtime it is failed, and says so; a later run goes on', async () => {
    const set = await stage()
    const runtime = script([{ turns: FILLS, checkpoint: 'Half.' }, { turns: ENDS }])
    await lose(set, runtime, 6)
    const conversation = await set.batonpass.history.conversationByKey(set.key)
    const mine = (await set.batonpass.recover()).filter(({ conversationId }) => conversationId === conversation?.id)
    expect(mine).toMatchObject([{ type: 'failed' }])
    const { sessions, handoffs } = await recorded(set.batonpass, { conversationId: conversation?.id as never })
    expect(sessions).toMatchObject([{ state: 'failed', endReason: expect.stringContaining('gone') }])
    expect(handoffs).toMatchObject([{ status: 'failed' }])
    const { summary } = await play(set.batonpass, script([{ turns: ENDS }]), { conversation: set.key })
    expect(summary.outcome).toBe('completed')
  })

  it('a session that was launched but not recorded is adopted where the runtime knows it', async () => {
    const set = await stage()
    // Lost with the first step: the provider session has a turn, and nobody wrote down its name.
    const turns = [turn(100, 'read'), turn(200, 'edit'), turn(300)]
    const runtime = new ScriptedRuntime({ windows: [{ turns }] })
    await lose(set, runtime, 2)
    const conversation = await set.batonpass.history.conversationByKey(set.key)
    const before = await recorded(set.batonpass, { conversationId: conversation?.id as never })
    expect(before.sessions[0]).not.toHaveProperty('providerSessionId')
    await set.batonpass.recover({ runtimes: [runtime] })
    expect(runtime.launches.map(({ how, session }) => [how, session])).toEqual([
      ['start', before.sessions[0]?.id],
      ['resume', before.sessions[0]?.id],
    ])
    const { sessions } = await recorded(set.batonpass, { conversationId: conversation?.id as never })
    expect(sessions).toMatchObject([{ state: 'completed', providerSessionId: before.sessions[0]?.id }])
  })

  it('one that the runtime does not know is launched again', async () => {
    const set = await stage()
    // Its first step only says how large the window is: nothing was spoken yet.
    const runtime = script([{ turns: ENDS }])
    await lose(set, runtime, 2)
    await set.batonpass.recover({ runtimes: [runtime] })
    expect(runtime.launches.map(({ how, prompt }) => [how, prompt])).toEqual([
      ['start', TASK],
      ['start', TASK],
    ])
  })

  it('a runtime that cannot resume a session gets a fresh one', async () => {
    const set = await stage()
    const runtime = script([{ turns: [turn(100, 'read'), turn(200, 'edit'), turn(300)] }, { turns: ENDS }], {
      canResume: false,
    })
    await lose(set, runtime, 4)
    const conversation = await set.batonpass.history.conversationByKey(set.key)
    const recovered = await set.batonpass.recover({ runtimes: [runtime] })
    const mine = recovered.filter(({ conversationId }) => conversationId === conversation?.id)
    expect(mine).toMatchObject([{ type: 'resumed', summary: { outcome: 'completed', restarts: 1 } }])
    const { handoffs } = await recorded(set.batonpass, { conversationId: conversation?.id as never })
    expect(handoffs).toMatchObject([
      { flags: ['runtime_lost', 'minimal_continuation', 'checkpoint_skipped', 'recap_from_record'] },
    ])
  })

  it('three that recover at once finish it once', async () => {
    const set = await stage()
    const runtime = script([{ turns: FILLS, checkpoint: 'Half.' }, { turns: ENDS }])
    await lose(set, runtime, 6)
    const conversation = await set.batonpass.history.conversationByKey(set.key)
    const all = await Promise.all([1, 2, 3].map(() => set.batonpass.recover({ runtimes: [runtime] })))
    const mine = all.flat().filter(({ conversationId }) => conversationId === conversation?.id)
    expect(mine.filter(({ type }) => type === 'resumed')).toHaveLength(1)
    const { sessions, handoffs } = await recorded(set.batonpass, { conversationId: conversation?.id as never })
    expect(sessions.map(({ state }) => state)).toEqual(['handed_off', 'completed'])
    expect(handoffs).toHaveLength(1)
  })
})
