import { describe, expect, it } from 'vitest'
import { systemClock } from '../../src/entry/container.ts'
import { createBatonpass, everyPage, type RunSummary, StoreFailure } from '../../src/entry/index.ts'
import { MemoryStore } from '../../src/entry/memory.ts'
import { type Fault, FaultInjector } from '../../src/entry/testing.ts'
import { type Chance, chanceFor } from '../chaos/chance.ts'
import { METERS, type Meter, priceOf, randomAgent, type Truth } from './random-agent.ts'

const RUNS = Number(process.env.RUNS ?? 200)
const SEED = Number(process.env.SEED ?? 20_261_117)
const FAULTS: readonly Fault[] = ['reply_lost', 'unavailable', 'conflict', 'conflict']
/** Agents that say anything say it at once: only silence takes time. */
const IDLE_MS = 5
const PROMPTS = ['Fix the flaky test', 'Fix the flaky test', 'Now write the docs'] as const

interface Night {
  readonly caps: { readonly maxCostUsd: number; readonly maxRestarts: number }
  readonly meter: Meter
  readonly summaries: readonly (RunSummary & { readonly maxTurns: number })[]
  readonly truth: Truth
  /** What was passed on to whoever iterated, and is not on record. */
  readonly unrecorded: readonly string[]
  readonly isIntact: boolean
  readonly restarts: number
  readonly newPrompts: number
}

/** One conversation: some runs with random prompts, caps, faults of the store, breaks of the agent and early ends. */
const night = async (chance: Chance): Promise<Night> => {
  const faults = new FaultInjector(new MemoryStore({ clock: systemClock }))
  await using batonpass = await createBatonpass({ store: faults.store, priceOf })
  const truth: Truth = { costUsd: 0, dearestUsd: 0, untoldUsd: 0, requests: 0 }
  const meter = chance.one(METERS) ?? 'said'
  const fallsSilent = chance.happens(0.4)
  const runtime = randomAgent(chance, truth, { meter, fallsSilent })
  const caps = { maxCostUsd: 0.2 + chance.next() * 4, maxRestarts: chance.below(4) }
  const budget = { ...caps, whenExhausted: chance.happens(0.3) ? ('carry_on' as const) : ('stop' as const) }
  const shown: string[] = []
  const summaries: Night['summaries'][number][] = []
  const asked: string[] = []
  for (let run = 0; run < 1 + chance.below(3); run += 1) {
    const prompt = PROMPTS[run] ?? PROMPTS[0]
    for (let at = 0; at < chance.below(4); at += 1) faults.plan(chance.one(FAULTS) ?? 'conflict')
    const leavesAfter = chance.happens(0.2) ? chance.below(5) : Number.POSITIVE_INFINITY
    const maxTurns = chance.happens(0.3) ? 1 + chance.below(4) : Number.POSITIVE_INFINITY
    const started = batonpass.run({
      ...{ runtime, agent: 'random', prompt, conversation: 'night', policy: 'auto', leaseMs: 60_000 },
      ...(run === 0 && { budget }),
      ...(meter !== 'said' && { model: 'house-model' }),
      ...(fallsSilent && { idleTimeoutMs: IDLE_MS }),
      ...(Number.isFinite(maxTurns) && { maxTurns }),
    })
    const ended = started.summary.then((summary) => summaries.push({ ...summary, maxTurns })).catch(noStoreFailure)
    let heard = 0
    try {
      for await (const message of started) {
        shown.push(message.text)
        heard += 1
        if (heard > leavesAfter) break
      }
    } catch (error) {
      noStoreFailure(error)
    }
    await ended
    if (prompt !== asked.at(-1)) asked.push(prompt)
  }
  const conversation = await batonpass.history.conversationByKey('night')
  if (conversation === undefined) throw new Error('There is no conversation')
  const kept = new Set<string>()
  for await (const { text } of everyPage((page) => faults.store.messages.listMessages(conversation.id, page)))
    kept.add(text)
  let restarts = 0
  for await (const { kind, status } of batonpass.history.eachHandoff({ conversationId: conversation.id }))
    restarts += kind === 'context_restart' && status === 'completed' ? 1 : 0
  const verified = await batonpass.audit.verify(conversation.id)
  return {
    ...{ caps, meter, summaries, truth, restarts, newPrompts: asked.length },
    unrecorded: shown.filter((text) => !kept.has(text)),
    isIntact: verified.ok && verified.value.intact,
  }
}

/** A run may break with its agent; nothing of the store may show through. */
const noStoreFailure = (error: unknown): void => {
  if (error instanceof StoreFailure) throw error
}

describe(`${RUNS} conversations with random faults, caps and prompts (SEED=${SEED})`, () => {
  it('stay within their caps, lose nothing that was shown, and verify', async () => {
    const nights: (Night & { readonly seed: number })[] = []
    for (let first = 0; first < RUNS; first += 20) {
      const seeds = Array.from({ length: Math.min(20, RUNS - first) }, (_, index) => SEED + first + index)
      nights.push(
        ...(await Promise.all(seeds.map(async (seed) => ({ ...(await night(chanceFor(seed, 'night'))), seed })))),
      )
    }
    const wrong = nights.flatMap(({ seed, caps, truth, restarts, newPrompts, unrecorded, isIntact, summaries }) => [
      // The request in flight, and no more, may go over the cap. One that was never answered nobody can count.
      ...(truth.costUsd - truth.untoldUsd > caps.maxCostUsd + truth.dearestUsd + 1e-9
        ? [`${seed}: cost ${truth.costUsd} of ${caps.maxCostUsd}`]
        : []),
      // As with money: an answer that was on its way when the last turn ended is recorded too.
      ...summaries.flatMap(({ turns, maxTurns }) =>
        turns > maxTurns + 1 ? [`${seed}: ${turns} turns of ${maxTurns}`] : [],
      ),
      ...(restarts > caps.maxRestarts * newPrompts ? [`${seed}: ${restarts} restarts of ${caps.maxRestarts}`] : []),
      ...unrecorded.map((text) => `${seed}: shown and not on record: ${text}`),
      ...(isIntact ? [] : [`${seed}: does not verify`]),
    ])
    expect(wrong).toEqual([])
    // Nights in which nothing happens prove nothing.
    const outcomes = new Set(nights.flatMap(({ summaries }) => summaries.map(({ outcome }) => outcome)))
    if (RUNS >= 100) {
      expect([...outcomes].sort()).toEqual(['cancelled', 'completed', 'exhausted', 'failed', 'timed_out'])
      for (const meter of METERS) {
        const ends = nights.filter((night) => night.meter === meter).flatMap(({ summaries }) => summaries)
        const limits = ends.map(({ outcome, limit = outcome }) => limit)
        expect(limits, meter).toEqual(expect.arrayContaining(['cost', 'turns', 'restarts', 'timed_out']))
      }
      expect(nights.filter(({ restarts }) => restarts > 0).length).toBeGreaterThan(RUNS / 10)
    }
  })
})
