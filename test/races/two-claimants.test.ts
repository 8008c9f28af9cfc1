import { setMaxListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { claimOf, type HandoffMetadata, type HandoffStatus } from '../../src/domain/handoff/handoff.ts'
import type { AgentSession } from '../../src/domain/session/agent-session.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import type { Reply } from '../../src/services/commands/answers.ts'
import { refusal } from '../../src/testing/expected-refusal.ts'
import { Scene } from '../../src/testing/scene.ts'
import { everyItem, ReadBack } from '../cases/read-back.ts'
import { openStore } from '../support/stores.ts'
import { jittered, randomFrom, shuffled } from './jitter.ts'

const SEED = 20_261_116

/** A scene, and a service that reaches its store through jitter. */
const stage = async () => {
  const scene = new Scene(await openStore('memory'))
  const random = randomFrom(SEED)
  const racing = scene.serviceOver(jittered(scene.store, random))
  return { scene, random, racing, kept: new ReadBack(scene.store) }
}

const times = <T>(count: number, make: (n: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, n) => make(n))

describe('twenty claimants of one handoff', () => {
  it('a thousand times: one wins, nineteen are told who', async () => {
    const { scene, random, racing, kept } = await stage()
    const wins = new Map<string, number>()
    for (let round = 0; round < 1_000; round += 1) {
      const { handoff } = await scene.initiated()
      const claimants = shuffled(
        times(20, (n) => `claimant-${n}`),
        random,
      )
      const results = await Promise.all(claimants.map((claimant) => racing.acceptHandoff({ handoff, claimant })))
      const winners = claimants.filter((_, index) => results[index]?.ok)
      expect(winners).toHaveLength(1)
      const claim = claimOf(await kept.handoff(handoff.id))
      expect(claim?.claimant).toBe(winners[0])
      const told = {
        code: 'handoff.already_claimed',
        handoffId: handoff.id,
        claimant: winners[0],
        deadline: claim?.deadline,
      }
      for (const result of results) if (!result.ok) expect(result.error).toStrictEqual(told)
      wins.set(winners[0] ?? '', (wins.get(winners[0] ?? '') ?? 0) + 1)
    }
    expect(wins.size).toBeGreaterThan(10)
  })
})

describe('twenty starts of one conversation', () => {
  it('two hundred times: one session starts, the others are told which', async () => {
    const { scene, racing, kept } = await stage()
    for (let round = 0; round < 200; round += 1) {
      const { id } = await scene.conversation()
      const start = (n: number) =>
        racing.startSession({ conversationId: id, agentName: `agent-${n}`, backend: 'scripted' })
      const results = await Promise.all(times(20, start))
      const [active, ...others] = await kept.sessions(id)
      expect(others).toEqual([])
      const told = {
        code: 'conversation.session_active',
        conversationId: id,
        sessionId: active?.id,
        agentName: active?.agentName,
      }
      expect(results.filter(({ ok }) => ok)).toHaveLength(1)
      for (const result of results) if (!result.ok) expect(result.error).toStrictEqual(told)
    }
  })
})

const SOURCE_AFTER: Readonly<Partial<Record<HandoffStatus, AgentSession['state']>>> = {
  completed: 'handed_off',
  cancelled: 'active',
  failed: 'active',
}

describe('accept ∥ cancel ∥ fail ∥ complete', () => {
  it('two hundred times: exactly one of them ends the handoff, and the states fit', async () => {
    const { scene, random, racing, kept } = await stage()
    const ends = new Map<string, number>()
    for (let round = 0; round < 200; round += 1) {
      const { handoff, source } = await scene.initiated()
      const by = 'worker-1'
      const commands = {
        accepted: () => racing.acceptHandoff({ handoff, claimant: by }),
        cancelled: () => racing.cancelHandoff({ handoff, by, reason: 'Not needed' }),
        failed: () => racing.failHandoff({ handoff, by, reason: 'It broke' }),
        completed: () => racing.completeHandoff({ handoff, claimant: by }),
      }
      const order = shuffled(Object.keys(commands) as (keyof typeof commands)[], random)
      const results = await Promise.all(order.map(async (name) => ({ name, result: await commands[name]() })))
      const ended = results.filter(({ name, result }) => name !== 'accepted' && result.ok).map(({ name }) => name)
      expect(ended).toHaveLength(1)
      const { status } = await kept.handoff(handoff.id)
      expect(status).toBe(ended[0])
      expect((await kept.session(source.session.id)).state).toBe(SOURCE_AFTER[status])
      const sessions = await kept.sessions(handoff.conversationId)
      expect(sessions).toHaveLength(status === 'completed' ? 2 : 1)
      expect(sessions.filter(({ state }) => state === 'active')).toHaveLength(1)
      for (const { result } of results) {
        if (!result.ok)
          expect(result.error.code).toMatch(/^handoff\.(illegal_transition|already_claimed|not_claimant)$/)
      }
      ends.set(status, (ends.get(status) ?? 0) + 1)
    }
    expect([...ends.keys()].sort()).toEqual(['cancelled', 'completed', 'failed'])
  })

  it('by strangers to each other: exactly one of the four decides', async () => {
    const { scene, random, racing, kept } = await stage()
    for (let round = 0; round < 200; round += 1) {
      const { handoff } = await scene.initiated()
      const commands = shuffled<() => Reply<{ readonly handoff: HandoffMetadata }>>(
        [
          () => racing.acceptHandoff({ handoff, claimant: 'worker-1' }),
          () => racing.cancelHandoff({ handoff, reason: 'Not needed' }),
          () => racing.failHandoff({ handoff, reason: 'It broke' }),
          () => racing.completeHandoff({ handoff, claimant: 'worker-2' }),
        ],
        random,
      )
      const results = await Promise.all(commands.map((run) => run()))
      const decided = results.filter(({ ok }) => ok)
      expect(decided).toHaveLength(1)
      const winner = decided[0] && unwrap(decided[0]).handoff
      expect(await kept.handoff(handoff.id)).toStrictEqual(winner)
    }
  })
})

describe('ten workers over a hundred pending handoffs', () => {
  it('claim each once, whatever overtakes what', async () => {
    const { scene, racing } = await stage()
    const targetAgent = scene.name('opus')
    const pending = await Promise.all(times(100, async () => (await scene.initiated()).handoff.id))
    const claims: string[] = []
    const work = async (claimant: string): Promise<void> => {
      for (;;) {
        const { handoff } = unwrap(await racing.claimNext({ targetAgent, claimant }))
        if (handoff === undefined) return
        claims.push(handoff.id)
      }
    }
    await Promise.all(times(10, (n) => work(`worker-${n}`)))
    expect(claims.toSorted()).toEqual(pending.toSorted())
    expect(await everyItem((page) => scene.store.handoffs.listPendingFor(targetAgent, page))).toEqual([])
  })
})

describe('fifty turns at once by one holder with one stale copy', () => {
  it('are all recorded, without a gap and none twice', async () => {
    const { scene, racing, kept } = await stage()
    const stale = await scene.session()
    unwrap(await scene.service.recordTurn({ ...stale, ...scene.turn() }))
    const turns = times(50, () => scene.turn('read_file'))
    const answers = (await Promise.all(turns.map((turn) => racing.recordTurn({ ...stale, ...turn })))).map(unwrap)
    const upTo = (count: number): readonly number[] => times(count, (n) => n + 1)
    const messages = await kept.messages(stale.session.conversationId)
    expect(messages.map(({ sequenceNumber }) => sequenceNumber)).toEqual(upTo(102))
    const stored = await everyItem((page) => scene.store.messages.listTurns(stale.session.id, page))
    expect(stored.map(({ number }) => number)).toEqual(upTo(51))
    const calls = stored.flatMap(({ toolCalls }) => toolCalls.map(({ callId }) => callId))
    expect(calls.toSorted()).toEqual(turns.map((_, n) => `call-${n + 1}`).toSorted())
    expect(answers.map(({ turns: [turn] }) => turn?.number ?? 0).toSorted((a, b) => a - b)).toEqual(upTo(51).slice(1))
    expect((await kept.audit(stale.session.conversationId)).map(({ position }) => position)).toEqual(upTo(54))
    expect((await kept.session(stale.session.id)).progress).toMatchObject({ turns: 51, nextSequence: 103 })
  })
})

describe('waiting for a handoff', () => {
  const soon = <T>(promise: Promise<T>): Promise<T> =>
    Promise.race([
      promise,
      new Promise<never>((_, reject) => {
        setTimeout(() => reject(new Error('It did not come to an end')), 2_000).unref()
      }),
    ])

  it('without waiting, nothing pending is an answer', async () => {
    const { scene } = await stage()
    expect(unwrap(await scene.service.claimNext({ targetAgent: scene.name('opus'), claimant: 'w' }))).toEqual({})
  })

  it('gives the handoff that comes later', async () => {
    const { scene, kept } = await stage()
    const asked = { targetAgent: scene.name('opus'), claimant: 'w', wait: true, pollMs: 5 }
    const waiting = scene.service.claimNext(asked)
    await new Promise((resolve) => setTimeout(resolve, 20))
    const { handoff } = await scene.initiated()
    expect(unwrap(await soon(waiting)).handoff?.id).toBe(handoff.id)
    expect((await kept.handoff(handoff.id)).status).toBe('accepted')
  })

  it('gives the one whose claim ran out', async () => {
    const { scene } = await stage()
    const { handoff } = await scene.initiated()
    unwrap(await scene.service.acceptHandoff({ handoff, claimant: 'gone', claimMs: 40 }))
    const asked = { targetAgent: scene.name('opus'), claimant: 'w', wait: true, pollMs: 5 }
    const waiting = scene.service.claimNext(asked)
    await scene.passTime(80)
    expect(unwrap(await soon(waiting)).handoff).toMatchObject({ id: handoff.id, claim: { claimant: 'w' } })
  })

  it('twenty waiting for three: each is claimed once, the rest go on waiting until told to stop', async () => {
    const { scene, racing } = await stage()
    const stop = new AbortController()
    setMaxListeners(20, stop.signal)
    const asked = { targetAgent: scene.name('opus'), wait: true, pollMs: 2, signal: stop.signal }
    const waiting = times(20, (n) => racing.claimNext({ ...asked, claimant: `w-${n}` }))
    const outcomes = Promise.allSettled(waiting)
    const pending = [await scene.initiated(), await scene.initiated(), await scene.initiated()]
    await new Promise((resolve) => setTimeout(resolve, 50))
    stop.abort(new Error('Enough'))
    const settled = await soon(outcomes)
    const claimed = settled.flatMap((end) => (end.status === 'fulfilled' ? [unwrap(end.value).handoff?.id] : []))
    expect(claimed.toSorted()).toEqual(pending.map(({ handoff }) => handoff.id).toSorted())
    for (const end of settled) if (end.status === 'rejected') expect(end.reason).toBe(stop.signal.reason)
  })

  it('ends with the reason of its signal, long before the next look', async () => {
    const { scene } = await stage()
    const stop = new AbortController()
    const asked = { targetAgent: scene.name('opus'), claimant: 'w', wait: true, pollMs: 60_000, signal: stop.signal }
    const waiting = scene.service.claimNext(asked)
    const reason = new Error('Enough')
    setTimeout(() => stop.abort(reason), 20)
    await expect(soon(waiting)).rejects.toBe(reason)
  })

  it('ends as soon when the signal comes while the store is being asked', async () => {
    const { scene } = await stage()
    const stop = new AbortController()
    const asked = { targetAgent: scene.name('opus'), claimant: 'w', wait: true, pollMs: 60_000, signal: stop.signal }
    const waiting = scene.service.claimNext(asked)
    const reason = new Error('Enough')
    stop.abort(reason)
    await expect(soon(waiting)).rejects.toBe(reason)
  })

  it('does not begin under a signal that already said stop, and a refusal ends it too', async () => {
    const { scene } = await stage()
    const { handoff } = await scene.initiated()
    const asked = { targetAgent: scene.name('opus'), claimant: 'w', wait: true }
    const reason = new Error('Never')
    await expect(scene.service.claimNext({ ...asked, signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    expect((await scene.store.handoffs.find(handoff.id))?.status).toBe('initiated')
    expect(refusal(await soon(scene.service.claimNext({ ...asked, claimant: ' ' }))).code).toBe('input.invalid')
  })
})
