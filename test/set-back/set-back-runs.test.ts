import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Batonpass, createBatonpass, type RunEvent, type RunSummary } from '../../src/entry/index.ts'
import type { Unit } from '../../src/entry/ports.ts'
import { runtimeOf, script, sleep, TASK, turn } from '../runner/played.ts'
import { keeps, meddledStore } from '../support/meddled-store.ts'
import { openRewindable, REWINDABLE_KINDS, type RewindableStore } from './rewindable-store.ts'

const SET_BACK = { name: 'StoreFailure', code: 'store.set_back', retryable: false }
const TURNS = Array.from({ length: 12 }, (_, number) => turn(10 * number + 10, 'edit'))

describe.each(REWINDABLE_KINDS)('when the store is set back, on %s', (kind) => {
  let rewindable: RewindableStore
  let batonpass: Batonpass
  /** What happens before a commit, and those that were sent after the store was set back. */
  let before: (unit: Unit) => Promise<void> | void
  let sent: Unit[]
  let isSetBack: boolean

  beforeEach(async () => {
    rewindable = await openRewindable(kind)
    ;[before, sent, isSetBack] = [() => undefined, [], false]
    const store = meddledStore(rewindable.store, async (unit) => {
      if (isSetBack) sent.push(unit)
      else await before(unit)
    })
    batonpass = await createBatonpass({ store })
  }, 120_000)
  afterEach(async () => {
    await batonpass.close()
    await rewindable[Symbol.asyncDispose]()
  })

  const setBack = async (): Promise<void> => {
    await rewindable.setBack()
    isSetBack = true
  }

  /** Takes the copy before one turn, and puts it in place before another. */
  const atTurns = (copied: number, lost: number) => {
    let turns = 0
    before = async (unit) => {
      if (!keeps(unit, 'turn.recorded')) return
      turns += 1
      if (turns === copied) await rewindable.keepCopy()
      if (turns === lost) await setBack()
    }
  }

  /** Runs, and gives the summary that listeners were told with the failure. */
  const failed = async (running: ReturnType<Batonpass['run']>): Promise<{ failure: unknown; summary?: RunSummary }> => {
    let summary: RunSummary | undefined
    running.on((event: RunEvent) => {
      if (event.type === 'run:end') summary = event.summary
    })
    const failure = await running.finish().catch((error: unknown) => error)
    return { failure, ...(summary && { summary }) }
  }

  it('a run stops, claims no success and writes nothing more', async () => {
    atTurns(4, 9)
    const running = batonpass.run({ runtime: script([{ turns: TURNS }]), agent: 'claude', prompt: TASK })
    const { failure, summary } = await failed(running)
    expect(failure).toMatchObject(SET_BACK)
    expect(await running.summary).toEqual(summary)
    expect(summary).toMatchObject({ outcome: 'failed', reason: expect.stringContaining('set back') })
    const stored = summary && (await rewindable.store.sessions.find(summary.lastSessionId as never))
    expect(stored).toMatchObject({ state: 'active', progress: { turns: 3 } })
    // What the agent said last was tried on the run's own copy, which cannot fit: no end, and nothing decided anew.
    expect(sent.every((unit) => keeps(unit, 'turn.recorded'))).toBe(true)
    expect(sent.length).toBeLessThanOrEqual(1)
  })

  it('a run whose session is gone altogether does not end as completed', async () => {
    before = async (unit) => {
      if (keeps(unit, 'session.started')) await rewindable.keepCopy()
      if (keeps(unit, 'session.completed')) await setBack()
    }
    const running = batonpass.run({ runtime: script([{ turns: TURNS.slice(0, 2) }]), agent: 'claude', prompt: TASK })
    const { failure, summary } = await failed(running)
    expect(failure).toMatchObject(SET_BACK)
    expect(summary?.outcome).toBe('failed')
  })

  // An engine takes seconds to start, and what follows is the same read.
  if (kind === 'pglite') return

  it('a run whose session is gone before it ends is not taken for one that somebody took over', async () => {
    before = async (unit) => {
      if (keeps(unit, 'session.started')) await rewindable.keepCopy()
    }
    // The last turn is recorded by then: what the run does next is to end.
    const runtime = script([{ turns: TURNS.slice(0, 2) }])
    const running = batonpass.run({ runtime, agent: 'claude', prompt: TASK, leaseMs: 200 })
    const reading = async (): Promise<void> => {
      for await (const message of running) {
        if (!JSON.stringify(message).includes('At 20.')) continue
        await setBack()
        // Long enough that its lease is renewed in between, or rather not.
        await sleep(400)
      }
    }
    await expect(reading()).rejects.toMatchObject(SET_BACK)
    expect((await running.summary).outcome).toBe('failed')
  })

  it('a run that carries out a restart stops', async () => {
    before = async (unit) => {
      if (keeps(unit, 'handoff.checkpointed')) await rewindable.keepCopy()
      if (keeps(unit, 'handoff.prepared')) await setBack()
    }
    const windows = [{ turns: [turn(100, 'read'), turn(900, 'edit')], checkpoint: 'Half.' }, { turns: TURNS }]
    const { failure, summary } = await failed(
      batonpass.run({ runtime: script(windows), agent: 'claude', prompt: TASK, policy: 'auto' }),
    )
    expect(failure).toMatchObject(SET_BACK)
    expect(summary?.outcome).toBe('failed')
  })

  it('a worker stops, and fails with it', async () => {
    const handsOver = { to: 'coder', reason: 'The plan stands.' }
    const planner = runtimeOf('thinks', [{ turns: [{ ...turn(100, 'plan'), handsOver }], checkpoint: 'Planned.' }])
    await batonpass.run({ agents: { planner }, start: 'planner', prompt: TASK, conversation: 'job' }).finish()
    atTurns(2, 5)
    const coder = runtimeOf('types', [{ turns: TURNS }])
    const events: RunEvent[] = []
    const working = batonpass.work({
      agents: { coder },
      pollMs: { least: 2, most: 10 },
      onEvent: (event) => events.push(event),
    })
    await expect(working).rejects.toMatchObject(SET_BACK)
    expect(coder.launches).toHaveLength(1)
    expect(events.flatMap((event) => (event.type === 'run:end' ? [event.summary.outcome] : []))).toEqual(['failed'])
  })

  it('a worker stops that is offered again what it took up and finished', async () => {
    const handsOver = { to: 'coder', reason: 'The plan stands.' }
    const planner = runtimeOf('thinks', [{ turns: [{ ...turn(100, 'plan'), handsOver }], checkpoint: 'Planned.' }])
    await batonpass.run({ agents: { planner }, start: 'planner', prompt: TASK, conversation: 'job' }).finish()
    await rewindable.keepCopy()
    const coder = runtimeOf('types', [{ turns: TURNS.slice(0, 2) }])
    let hasEnded = (): void => undefined
    const ended = new Promise<void>((resolve) => {
      hasEnded = resolve
    })
    const working = batonpass.work({
      agents: { coder },
      pollMs: { least: 2, most: 10 },
      onEvent: (event) => event.type === 'run:end' && hasEnded(),
    })
    await ended
    await setBack()
    await expect(working).rejects.toMatchObject(SET_BACK)
    expect(coder.launches).toHaveLength(1)
  })

  it('recovering fails', async () => {
    atTurns(3, 6)
    const runtime = script([{ turns: TURNS }])
    const running = batonpass.run({ runtime, agent: 'claude', prompt: TASK, leaseMs: 50 })
    expect((await failed(running)).failure).toMatchObject(SET_BACK)
    const recovering = batonpass.recover({ runtimes: [runtime], wait: true })
    await expect(recovering).rejects.toMatchObject(SET_BACK)
  })
})
