import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Batonpass, createBatonpass, StoreFailure, unwrap, type WorkingSession } from '../../src/entry/index.ts'
import { HeldSession, LaunchedProcesses } from '../../src/services/run/held-session.ts'
import { ENDING_OUTAGE_MS, retriesOf, type Trouble } from '../../src/services/run/retry-through-outage.ts'
import { RunAccount } from '../../src/services/run/run-account.ts'
import { RunConversation } from '../../src/services/run/run-conversation.ts'
import { TASK } from './played.ts'

let batonpass: Batonpass
let working: WorkingSession

const started = async (): Promise<WorkingSession> => {
  const { conversation } = unwrap(await batonpass.handoffs.openConversation({ originalTask: TASK }))
  const about = { conversationId: conversation.id, agentName: 'claude', backend: 'test', prompt: TASK }
  return unwrap(await batonpass.handoffs.startSession(about))
}

beforeEach(async () => {
  batonpass = await createBatonpass({ store: 'memory' })
  working = await started()
})

afterEach(() => void vi.useRealTimers())

describe('the session that a run holds', () => {
  const holding = (): HeldSession => {
    const held = new HeldSession('runner-1')
    held.hold(working)
    return held
  }

  it('is not there before it is held, and goes by the id that was planned', () => {
    const held = new HeldSession('runner-1')
    held.plan(working.session.id)
    expect([held.isThere, held.hasLease, held.monitor, held.id]).toEqual([false, false, undefined, working.session.id])
    expect(() => held.session).toThrow(TypeError)
  })

  it('goes with the next command as its last answer had it', async () => {
    const held = holding()
    const paused = unwrap(await batonpass.handoffs.pauseSession(held.working))
    held.update(paused)
    const { session, holder, monitor } = working
    expect(held.working).toEqual({ session: paused.session, holder, monitor })
    expect(held.session.version).toBeGreaterThan(session.version)
  })

  it('keeps no part of an answer beside session, token and monitor', () => {
    const held = new HeldSession('runner-1')
    held.hold({ ...working, handoff: 'the one before' } as WorkingSession)
    expect(held.working).toEqual({ session: working.session, holder: working.holder, monitor: working.monitor })
  })

  it('has no lease to renew while it is handed on, and its successor has one', async () => {
    const held = holding()
    const successor = await started()
    const seen = await held.handOn(async () => {
      expect(held.hasLease).toBe(false)
      return successor
    })
    expect([seen, held.session.id, held.hasLease]).toEqual([successor, successor.session.id, true])
  })

  it('stays held, with its lease, when it could not be handed on', async () => {
    const held = holding()
    await expect(held.handOn(() => Promise.reject(new Error('refused')))).rejects.toThrow('refused')
    expect([held.session.id, held.hasLease]).toEqual([working.session.id, true])
  })

  it('has no lease to renew once its end has begun, or it has ended', async () => {
    const ending = holding()
    ending.beginToEnd()
    const ended = holding()
    ended.update(unwrap(await batonpass.handoffs.completeSession(working)))
    expect([ending.hasLease, ended.hasLease]).toEqual([false, false])
  })

  it('remembers which model has answered, whatever later answers leave out', () => {
    const held = holding()
    expect([held.answeringModel, held.model]).toEqual([undefined, undefined])
    held.answeredBy('opus')
    held.answeredBy(undefined)
    expect([held.answeringModel, held.model]).toEqual(['opus', 'opus'])
  })
})

describe('the account of a run', () => {
  it('adds to what the conversation had before', () => {
    const account = new RunAccount()
    account.restartedBefore(2)
    account.costBefore(0.5)
    account.sessionBegun()
    account.turnsRecorded(3)
    account.restarted()
    account.used({ inputTokens: 10, outputTokens: 5, costUsd: 0.25 })
    account.used({ inputTokens: 1, outputTokens: 1 })
    expect([account.restartsSoFar, account.costUsd]).toEqual([3, 0.75])
    expect(account.figures()).toMatchObject({ sessions: 2, turns: 3, restarts: 1 })
    expect(account.totals).toEqual({ inputTokens: 11, outputTokens: 6, costUsd: 0.25 })
  })
})

describe('the conversation of a run', () => {
  it('gives its unsaid task once, to whoever says it', async () => {
    const { conversation } = unwrap(await batonpass.handoffs.openConversation({ originalTask: TASK }))
    const asked = new RunConversation(conversation)
    expect([asked.task, asked.takeUnsaid()]).toEqual([TASK, undefined])
    const prompt = 'Now the docs'
    const answer = unwrap(await batonpass.handoffs.askConversation({ conversation: conversation.id, prompt }))
    asked.update(answer.conversation)
    asked.noteUnsaid(asked.task)
    expect([asked.unsaidTask, asked.takeUnsaid(), asked.takeUnsaid()]).toEqual([prompt, prompt, undefined])
  })
})

describe('the processes of a session', () => {
  it('are all of those that were launched for it, and none of another', async () => {
    const launched = new LaunchedProcesses()
    const { session: other } = await started()
    const process = (mark: string) => ({ host: 'a', bootId: 'b', pidNamespace: 'c', userId: 0, mark })
    const [one, two, three] = [process('1'), process('2'), process('3')] as const
    expect(launched.add(working.session.id, one)).toEqual([one])
    expect(launched.add(working.session.id, two)).toEqual([one, two])
    expect(launched.add(other.id, three)).toEqual([three])
  })
})

describe('retries of a run', () => {
  const ids = { next: () => '0190a0a0-0000-7000-8000-000000000001' }
  const away = () => Promise.reject(new StoreFailure('store.unavailable', 'away'))

  it('do not wait again for a store that was waited for in vain, until it answers', async () => {
    vi.useFakeTimers()
    const troubles: Trouble[] = []
    const { signal } = new AbortController()
    const retry = retriesOf(ids, { signal, onTrouble: (trouble) => troubles.push(trouble) })
    const tries = async (outageMs: number): Promise<number> => {
      const before = troubles.length
      const given = expect(retry(away, { outageMs })).rejects.toThrow(StoreFailure)
      await vi.runAllTimersAsync()
      await given
      return troubles.length - before
    }
    expect(await tries(250)).toBe(2)
    expect(await tries(ENDING_OUTAGE_MS)).toBe(1)
    expect(await retry(() => Promise.resolve('there'))).toBe('there')
    expect(await tries(250)).toBe(2)
  })
})
