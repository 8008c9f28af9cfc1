import { beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/entry/container.ts'
import { type Batonpass, createBatonpass, type Logger, StoreFailure, unwrap } from '../../src/entry/index.ts'
import { MemoryStore } from '../../src/entry/memory.ts'
import type { Store } from '../../src/entry/ports.ts'
import { keeps, meddledStore } from '../support/meddled-store.ts'
import { ENDS, FILLS, functionHook, play, script, sleep, TASK, turn } from './played.ts'

type Line = readonly [level: keyof Logger, message: string, fields: Readonly<Record<string, unknown>>]

let store: Store
let lines: Line[]
let logger: Logger

beforeEach(() => {
  store = new MemoryStore({ clock: systemClock })
  lines = []
  const keep =
    (level: keyof Logger): Logger['info'] =>
    (fields, message) =>
      void lines.push([level, message, fields])
  logger = { debug: keep('debug'), info: keep('info'), warn: keep('warn'), error: keep('error') }
})

const open = (given: Partial<Parameters<typeof createBatonpass>[0]> = {}): Promise<Batonpass> =>
  createBatonpass({ store, logger, ...given })

const said = (level: keyof Logger): readonly string[] =>
  lines.filter(([at]) => at === level).map(([, message]) => message)

const about = (message: string): Line[2] | undefined => lines.find(([, text]) => text.includes(message))?.[2]

const restarting = () => script([{ turns: FILLS, checkpoint: 'Half.' }, { turns: ENDS }])

describe('a logger is told', () => {
  it('of a restart with its percentage, and of the checkpoint', async () => {
    const { summary } = await play(await open(), restarting())
    expect(said('info')).toEqual([
      'session 1 begins',
      'milestone restart at 90 % of the window',
      'a restart begins at 90 % of the window',
      'the checkpoint: kept',
      'the session is handed_off',
      'restart 1, begun at 90 % of the window, is done',
      'session 2 begins',
      'the session is completed',
      'the run is over: completed',
    ])
    const { conversationId } = summary
    expect(about('a restart begins')).toMatchObject({
      event: 'context:handoff:start',
      conversationId,
      usagePercent: 0.901,
    })
    expect(said('warn')).toEqual([])
  })

  it('of a restart that the budget refuses, and of the end it makes', async () => {
    const budget = { maxRestarts: 0, whenExhausted: 'stop' } as const
    await play(await open(), restarting(), { budget })
    expect(said('warn')).toContainEqual(expect.stringMatching(/^the budget allows no restart \(\w+\)$/))
    expect(said('error')).toEqual(['the run is over: exhausted'])
  })

  it('once of a window that nobody knows the size of', async () => {
    await play(await open(), script([{ turns: [...FILLS, ...ENDS] }], { windowTokens: 0 }))
    expect(said('warn')).toEqual([expect.stringContaining('nobody knows how full the window is')])
  })

  it('of a checkpoint that was not to be had, and of a hook that fails', async () => {
    const fail = (): never => {
      throw new Error('My bug')
    }
    const runtime = script([{ turns: FILLS, checkpoint: new Error('Away') }, { turns: ENDS }])
    await play(await open(), runtime, { hooks: [functionHook('after_handoff', fail)] })
    expect(said('warn')).toEqual([
      'the checkpoint: failed',
      expect.stringMatching(/^hook after_handoff has failed: .+/),
    ])
  })

  it('of a store that is away for a moment, without the secrets of its complaint', async () => {
    let isAway = true
    const flickering = meddledStore(store, (unit) => {
      if (!isAway || !keeps(unit, 'turn.recorded')) return
      isAway = false
      throw new StoreFailure('store.unavailable', 'No route to s3cret')
    })
    await play(await open({ store: flickering }), script([{ turns: ENDS }]))
    expect(said('warn')).toEqual(['the store is away, and is tried again'])
    expect(about('tried again')).toEqual({ code: 'store.unavailable', tries: 1 })
  })

  it('of turns that a program records itself: a restart, a refused one, and once of an unknown window', async () => {
    const { handoffs } = await open()
    const begun = async (maxRestarts: number) => {
      const budget = { maxRestarts, whenExhausted: 'stop' } as const
      const { conversation } = unwrap(await handoffs.openConversation({ originalTask: TASK, restartBudget: budget }))
      const asked = { conversationId: conversation.id, agentName: 'own', backend: 'own' }
      return unwrap(await handoffs.startSession({ ...asked, monitor: { policy: 'auto' } }))
    }
    const messages = [{ role: 'assistant' as const, text: 'Hello.' }]
    const full = {
      messages,
      usage: { state: 'metered', promptTokens: 900, outputTokens: 1 },
      window: { hardLimit: { tokens: 1_000, source: 'runtime' } },
    } as const
    unwrap(await handoffs.recordTurn({ ...(await begun(3)), ...full }))
    expect(said('info')).toEqual(['a restart is due at 90 % of the window'])
    expect(about('a restart is due')).toMatchObject({ usagePercent: 0.901 })
    unwrap(await handoffs.recordTurn({ ...(await begun(0)), ...full }))
    expect(said('warn')).toEqual(['the budget allows no restart (restarts)'])
    const unknown = await begun(3)
    const first = unwrap(await handoffs.recordTurn({ ...unknown, messages }))
    unwrap(await handoffs.recordTurn({ ...unknown, session: first.session, messages }))
    expect(said('warn').slice(1)).toEqual([expect.stringContaining('nobody knows how full the window is')])
    const size = await begun(3)
    unwrap(await handoffs.recordTurn({ ...size, messages, usage: full.usage }))
    expect(said('warn').slice(2)).toEqual([expect.stringContaining('nobody knows how full the window is')])
  })

  it('of what was recovered', async () => {
    const batonpass = await open()
    const { handoffs } = batonpass
    const { conversation } = unwrap(await handoffs.openConversation({ originalTask: TASK }))
    const agent = { agentName: 'claude', backend: 'scripted', leaseMs: 20, prompt: TASK }
    const { session } = unwrap(await handoffs.startSession({ conversationId: conversation.id, ...agent }))
    await sleep(40)
    await batonpass.recover({ runtimes: [script([{ turns: ENDS }])] })
    expect(about('orphaned')).toMatchObject({ type: 'resumed', sessionId: session.id })
  })

  it('of a command that is refused, and of a notifier that fails', async () => {
    const notify = (): never => {
      throw new Error('Nobody is there')
    }
    const batonpass = await open({ notifier: { notify } })
    await play(batonpass, script([{ turns: [turn(100, 'a'), turn(990)] }]), { policy: 'advise' })
    expect(said('warn')).toContain('the notifier failed')
    await batonpass.handoffs.openConversation({ originalTask: TASK, externalKey: 'k' })
    await batonpass.handoffs.closeConversation({ conversation: '0190a0a0-0000-7000-8000-000000000001' as never })
    expect(about('was refused')).toMatchObject({ refusal: { code: 'conversation.not_found' } })
  })
})

describe('a logger', () => {
  it.each<readonly [string, () => unknown]>([
    [
      'that throws',
      () => {
        throw new Error('The disk is full')
      },
    ],
    ['that rejects', () => Promise.reject(new Error('The disk is full'))],
  ])('%s ends no run', async (_, fail) => {
    const broken = { debug: fail, info: fail, warn: fail, error: fail } as Logger
    const { summary } = await play(await open({ logger: broken }), restarting())
    expect(summary).toMatchObject({ outcome: 'completed', restarts: 1 })
  })

  it('may be one of pino, or the console', () => {
    // As pino 9 declares it; it is no dependency of ours.
    interface LogFn {
      // biome-ignore lint/suspicious/noExplicitAny: it is what pino says
      <T extends object>(obj: T, msg?: string, ...args: any[]): void
      // biome-ignore lint/suspicious/noExplicitAny: it is what pino says
      (obj: unknown, msg?: string, ...args: any[]): void
      // biome-ignore lint/suspicious/noExplicitAny: it is what pino says
      (msg: string, ...args: any[]): void
    }
    type Pino = Readonly<Record<'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent', LogFn>> & {
      level: string
    }
    const accepted = (_: Logger): boolean => true
    expect(accepted(console)).toBe(true)
    expect(((pino: Pino) => accepted(pino))({} as Pino)).toBe(true)
    // @ts-expect-error a logger without levels is none
    expect(accepted({ log: () => {} })).toBe(true)
  })
})
