import { beforeEach, describe, expect, it } from 'vitest'
import { type Batonpass, createBatonpass, type RunRequest, type RunSummary } from '../../src/entry/index.ts'
import type { Store } from '../../src/entry/ports.ts'
import type { StoreUnderTest } from '../../src/entry/testing.ts'
import { lostProcess } from '../support/lost-process.ts'
import { openStore } from '../support/stores.ts'
import { ENDS, FILLS, functionHook, logged, play, recorded, script, spoken, TASK, turn } from './played.ts'

const KEY = 'refused'
const LEASE_MS = 60
const NONE_LEFT = { conversation: KEY, budget: { maxRestarts: 0 } } as const

let store: Store
let passTime: StoreUnderTest['passTime']
let batonpass: Batonpass
beforeEach(async () => {
  ;({ store, passTime } = await openStore('memory'))
  batonpass = await createBatonpass({ store })
})

const FULL_AT_ONCE = [turn(900, 'edit', 'test'), turn(950)]

const intact = async ({ conversationId }: RunSummary): Promise<void> =>
  expect(await batonpass.audit.verify(conversationId)).toMatchObject({ ok: true, value: { intact: true } })

/** Runs until the process is lost with the commit that has this entry, and lets its lease expire. */
const lose = async (entry: string, turns = FILLS): Promise<void> => {
  const isLast = ({ events }: { readonly events: readonly { readonly type: string }[] }): boolean =>
    events.some(({ type }) => type === entry)
  const { store: last, lost } = lostProcess(store, isLast, { stillReads: true })
  const doomed = await createBatonpass({ store: last })
  const about = { runtime: script([{ turns }]), agent: 'claude', prompt: TASK, leaseMs: LEASE_MS }
  void doomed.run({ ...about, ...NONE_LEFT, policy: 'auto' }).finish()
  await lost
  await passTime(LEASE_MS + 100)
}

describe('a session that is refused a fresh window', () => {
  it.each<readonly [string, Partial<RunRequest>]>([
    ['by its crossing turn', {}],
    ['after its hooks wanted one', { hooks: [functionHook('on_context_threshold', () => undefined)] }],
  ])('is failed once its tools have answered, and what they said is on record: %s', async (_, more) => {
    const { summary, messages } = await play(batonpass, script([{ turns: FULL_AT_ONCE }]), { ...NONE_LEFT, ...more })
    expect(summary).toMatchObject({ outcome: 'exhausted', limit: 'restarts' })
    expect((messages as readonly { readonly text: string }[]).map(({ text }) => text)).toContain('ok')
    expect(await spoken(store, summary)).toEqual([`user: ${TASK}`, 'assistant: At 900.', 'tool: ok', 'tool: ok'])
    const { sessions, handoffs } = await recorded(batonpass, summary)
    expect(sessions).toMatchObject([{ state: 'failed', endedBy: 'restarts' }])
    expect(handoffs).toEqual([])
    expect((await logged(batonpass, summary)).filter((type) => /refused|failed/.test(type))).toEqual([
      'context.restart_refused',
      'session.failed',
    ])
    await intact(summary)
  })

  it('is failed by whoever takes it over, when its process was lost before it could', async () => {
    await lose('context.restart_refused')
    const runtime = script([{ turns: ENDS }])
    const [recovered] = await batonpass.recover({ runtimes: [runtime] })
    expect(recovered).toMatchObject({ type: 'resumed', summary: { outcome: 'exhausted', limit: 'restarts' } })
    expect(runtime.launches).toEqual([])
    const { sessions } = await recorded(batonpass, { conversationId: recovered?.conversationId as never })
    expect(sessions).toMatchObject([{ state: 'failed', endedBy: 'restarts' }])
  })

  it('gets the window after all from a run that allows it', async () => {
    await lose('context.restart_refused')
    const runtime = script([{ turns: ENDS }])
    const more = { conversation: KEY, budget: { maxRestarts: 1 }, prompt: 'And write the docs' }
    const { summary } = await play(batonpass, runtime, more)
    expect(summary).toMatchObject({ outcome: 'completed', restarts: 1 })
    expect(runtime.launches.map(({ how }) => how)).toEqual(['start'])
    expect(runtime.launches[0]?.prompt).toContain(TASK)
    expect(runtime.launches[0]?.prompt).toContain('And write the docs')
    await intact(summary)
  })
})

describe('a run that was cancelled with a full window', () => {
  it('begins the next one with a restart: no later turn would', async () => {
    const stop = new AbortController()
    const runtime = script([{ turns: FILLS, checkpoint: 'Half.' }, { turns: ENDS }])
    const run = batonpass.run({
      ...{ runtime, agent: 'claude', prompt: TASK, policy: 'auto', conversation: KEY },
      signal: stop.signal,
    })
    // Called off while the turn that fills the window is open.
    for await (const { text } of run) if (text === 'At 900.') stop.abort()
    expect((await run.summary).outcome).toBe('cancelled')
    const { summary } = await play(batonpass, runtime, { conversation: KEY })
    expect(summary).toMatchObject({ outcome: 'completed', restarts: 1 })
    const { sessions } = await recorded(batonpass, summary)
    expect(sessions.map(({ state }) => state)).toEqual(['handed_off', 'completed'])
    expect(runtime.launches.map(({ how }) => how)).not.toContain('resume')
  })
})
