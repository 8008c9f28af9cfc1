import { beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/entry/container.ts'
import type { HookSettings } from '../../src/entry/hooks.ts'
import {
  type Batonpass,
  createBatonpass,
  everyPage,
  type RunEvent,
  type RunRequest,
  type RunSummary,
} from '../../src/entry/index.ts'
import { MemoryStore } from '../../src/entry/memory.ts'
import type { Store } from '../../src/entry/ports.ts'
import type { ScriptedRuntime } from '../../src/entry/testing.ts'
import type { RunTelemetry } from '../../src/ports/system/run-telemetry.ts'
import { keeps, meddledStore } from '../support/meddled-store.ts'
import { ENDS, FILLS, functionHook, play, recorded, script, sleep, spoken, TASK, turn } from './played.ts'

const SECRET = 's3cret'
const SAID = `The key ${SECRET} is not valid`
const MASKED = 'The key *** is not valid'

let store: Store
let told: { readonly hooks: unknown[]; readonly telemetry: unknown[] }

beforeEach(() => {
  store = new MemoryStore({ clock: systemClock })
  told = { hooks: [], telemetry: [] }
})

/** Telemetry that keeps everything it is told. */
const telemetry: RunTelemetry = {
  session: (session) => {
    told.telemetry.push(session)
    const end = (given: unknown): void => void told.telemetry.push(given)
    return {
      turn: end,
      handoff: (handoff) => {
        end(handoff)
        return { reached: end, end }
      },
      end,
    }
  },
}

const MOMENTS = ['on_session_start', 'after_handoff', 'on_error', 'after_run'] as const

const open = (given: Store = store, more: readonly HookSettings[] = []): Promise<Batonpass> => {
  const hooks = MOMENTS.map((moment) => functionHook(moment, (payload) => void told.hooks.push(payload)))
  const redact = (text: string): string => text.replaceAll(SECRET, '***')
  return createBatonpass({ store: given, redact, telemetry, runs: { hooks: [...more, ...hooks] } })
}

/** Everything that is kept or told of a run, as one text. */
const everything = async (batonpass: Batonpass, summary: RunSummary, events: readonly RunEvent[]): Promise<string> => {
  const log: unknown[] = []
  for await (const entry of everyPage((page) => batonpass.history.auditTrail(summary.conversationId, page)))
    log.push(entry)
  const record = await recorded(batonpass, summary)
  return JSON.stringify([summary, events, record, log, await spoken(store, summary), told])
}

/** Runs, and makes sure that the secret is nowhere and its mask is somewhere. */
const playMasked = async (batonpass: Batonpass, runtime: ScriptedRuntime, more: Partial<RunRequest> = {}) => {
  const { summary, events } = await play(batonpass, runtime, more)
  const all = await everything(batonpass, summary, events)
  expect(all).not.toContain(SECRET)
  expect(all).toContain('***')
  return { summary, events }
}

const restarting = (checkpoint: string | Error = 'Half.') => script([{ turns: FILLS, checkpoint }, { turns: ENDS }])

describe('a secret in an error is told to nobody', () => {
  it('when the agent fails with it', async () => {
    const end = { type: 'failed', message: SAID } as const
    const { summary, events } = await playMasked(await open(), script([{ turns: [turn(100, 'a')], end }]))
    expect(summary).toMatchObject({ outcome: 'failed', reason: MASKED })
    expect(events.filter(({ type }) => type === 'session:end')).toMatchObject([{ reason: MASKED }])
    expect(told.hooks).toMatchObject([{}, { error: { message: MASKED } }, { run: { error: MASKED } }])
    expect(told.telemetry.at(-1)).toEqual({ outcome: 'failed', error: MASKED })
  })

  it('when the window overflows with it', async () => {
    const end = { type: 'overflow', message: SAID } as const
    const batonpass = await open()
    const { summary } = await playMasked(batonpass, script([{ turns: [turn(100, 'a')], end }, { turns: ENDS }]))
    expect(summary).toMatchObject({ outcome: 'completed', restarts: 1 })
    expect((await recorded(batonpass, summary)).handoffs).toMatchObject([{ reason: expect.stringContaining(MASKED) }])
  })

  it('when the checkpoint fails with it', async () => {
    const batonpass = await open()
    const { summary } = await playMasked(batonpass, restarting(new Error(SAID)))
    expect((await recorded(batonpass, summary)).handoffs).toMatchObject([{ checkpoint: { reason: MASKED } }])
  })

  it('when the store fails a restart with it', async () => {
    const broken = meddledStore(store, (unit) => {
      if (keeps(unit, 'handoff.prepared')) throw new Error(SAID)
    })
    const { summary, events } = await playMasked(await open(broken), restarting())
    expect(summary).toMatchObject({ outcome: 'failed', reason: MASKED })
    expect(events.filter(({ type }) => type === 'context:handoff:cancelled')).toMatchObject([{ reason: MASKED }])
    expect(told.telemetry).toContainEqual({ outcome: 'failed', error: MASKED })
  })

  it('when the store fails the end with it', async () => {
    const broken = meddledStore(store, (unit) => {
      if (keeps(unit, 'session.completed')) throw new Error(SAID)
    })
    const run = (await open(broken)).run({ runtime: script([{ turns: ENDS }]), agent: 'claude', prompt: TASK })
    const events: RunEvent[] = []
    run.on((event) => events.push(event))
    await expect(run.finish()).rejects.toThrow(SAID)
    expect(await run.summary).toMatchObject({ outcome: 'failed', reason: MASKED })
    expect(JSON.stringify([events, told])).not.toContain(SECRET)
  })

  it('when whoever cancels the run says it', async () => {
    const controller = new AbortController()
    const runtime = script([{ turns: [turn(100, 'a'), turn(200)] }], {
      onStep: ({ texts }) => {
        if (texts[0]?.role === 'tool') controller.abort(new Error(SAID))
      },
    })
    const { summary } = await playMasked(await open(), runtime, { signal: controller.signal })
    expect(summary).toMatchObject({ outcome: 'cancelled', reason: expect.stringContaining(MASKED) })
  })

  it('when a session-start hook fails with it', async () => {
    const fail = (): never => {
      throw new Error(SAID)
    }
    const first = functionHook('on_session_start', fail, { shouldContinueOnError: false })
    const { summary } = await playMasked(await open(store, [first]), script([{ turns: ENDS }]))
    expect(summary).toMatchObject({ outcome: 'failed', reason: expect.stringContaining(MASKED) })
  })

  it('when recovery cannot finish a session because of it', async () => {
    const { handoffs } = await createBatonpass({ store })
    const opened = await handoffs.openConversation({ originalTask: TASK })
    if (!opened.ok) throw new Error('It was not opened')
    const agent = { agentName: 'claude', backend: 'scripted', leaseMs: 20, prompt: TASK }
    await handoffs.startSession({ conversationId: opened.value.conversation.id, ...agent })
    await sleep(30)
    const broken = await open(
      meddledStore(store, () => {
        throw new Error(SAID)
      }),
    )
    const expected = [{ type: 'unfinished', problem: MASKED }]
    expect(await broken.recover({ runtimes: [script([{ turns: ENDS }])] })).toMatchObject(expected)
    expect(await broken.recover()).toMatchObject(expected)
  })
})

describe('a secret that a tool was called with', () => {
  it('is not kept, not in the log, and not said to the successor', async () => {
    const calls = { text: 'I sign in.', promptTokens: 100, tools: [{ name: 'Bash', argument: `sign-in ${SECRET}` }] }
    const runtime = script([{ turns: [calls, turn(900, 'edit')], checkpoint: new Error('Lost') }, { turns: ENDS }])
    const batonpass = await open()
    const { summary, events } = await play(batonpass, runtime)
    const all = await everything(batonpass, summary, events)
    expect(all).not.toContain(SECRET)
    const [session] = (await recorded(batonpass, summary)).sessions
    const [first] = (await store.messages.listTurns(session?.id as never, {})).items
    expect(first?.toolCalls).toMatchObject([{ toolName: 'Bash', argument: 'sign-in ***' }])
    const log: unknown[] = []
    for await (const entry of everyPage((page) => batonpass.history.auditTrail(summary.conversationId, page)))
      log.push(entry)
    expect(JSON.stringify(log)).not.toContain('sign-in')
    expect(runtime.launches.at(-1)?.prompt).toContain('- Bash: sign-in *** [call:')
  })
})
