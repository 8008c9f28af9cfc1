import { describe, expect, it } from 'vitest'
import { createBatonpass, functionRuntime, type RunSummary } from '../../src/entry/index.ts'
import { lostProcess } from '../support/lost-process.ts'
import { openStore, RULE_STORES } from '../support/stores.ts'
import { logged, play, recorded, spoken, TASK } from './played.ts'

const LEASE_MS = 150
const BUDGET = { maxRestarts: 3, maxCostUsd: 1, whenExhausted: 'stop' } as const

/** An agent whose first launch costs more than it may, and whose later ones bring the work to its end. */
const dearAgent = ({ promptTokens, canResume }: { readonly promptTokens: number; readonly canResume: boolean }) => {
  const prompts: string[] = []
  const start = async function* ({ prompt }: { readonly prompt: string }) {
    prompts.push(prompt)
    const launch = prompts.length
    yield launch === 1 ? { text: 'Half of it.', costUsd: 5, promptTokens } : { text: 'Done.', costUsd: 0.25 }
  }
  const runtime = functionRuntime<{ text: string; costUsd: number; promptTokens?: number }>({
    backend: 'dear',
    reportsCost: true,
    start,
    ...(canResume && { resume: start }),
    read: ({ text, costUsd, promptTokens: tokens = 10 }) => ({
      providerSessionId: 'dear-session',
      events: [
        { type: 'window', tokens: 1_000 },
        { type: 'request', key: text, promptTokens: tokens, outputTokens: 1 },
        ...(text === 'Done.' ? [] : [{ type: 'tool_call' as const, callId: 'call-1', toolName: 'edit' }]),
      ],
      texts: [{ role: 'assistant', text }],
      totals: { inputTokens: tokens, outputTokens: 1, requests: 1, costUsd },
    }),
  })
  return { runtime, prompts }
}

const LOST = [
  ['whose window is full', { promptTokens: 900, canResume: true }],
  ['whose runtime cannot resume', { promptTokens: 100, canResume: false }],
  ['that could be resumed in its window', { promptTokens: 100, canResume: true }],
] as const

let keys = 0

describe.each(RULE_STORES)('a lost session of a conversation that has cost what it may, on %s', (kind) => {
  /** Loses a process with the turn that cost too much, and finds its session: by recovery, or by a run of the same key. */
  const found = async (agent: ReturnType<typeof dearAgent>, by: 'recover' | 'run') => {
    const { store, passTime } = await openStore(kind)
    keys += 1
    const conversation = `spent-${process.pid}-${keys}`
    const hasTurn = ({ events }: { readonly events: readonly { readonly type: string }[] }): boolean =>
      events.some(({ type }) => type === 'turn.recorded')
    const { store: last, lost } = lostProcess(store, hasTurn, { stillReads: true })
    const doomed = await createBatonpass({ store: last })
    const about = { runtime: agent.runtime, agent: 'claude', prompt: TASK, conversation, leaseMs: LEASE_MS }
    void doomed.run({ ...about, policy: 'auto', budget: BUDGET }).finish()
    await lost
    await passTime(LEASE_MS + 100)
    const batonpass = await createBatonpass({ store })
    const { id: conversationId } = (await batonpass.history.conversationByKey(conversation)) ?? {}
    const mine = async (): Promise<RunSummary | undefined> => {
      if (by === 'run') return (await play(batonpass, agent.runtime, { conversation })).summary
      const all = await batonpass.recover({ runtimes: [agent.runtime] })
      const [one] = all.filter((recovered) => recovered.conversationId === conversationId)
      return one?.type === 'resumed' ? one.summary : undefined
    }
    return { batonpass, store, conversation, summary: await mine() }
  }

  for (const by of ['recover', 'run'] as const)
    it.each(LOST)(`is paused when ${by} finds it, and nothing is launched: one %s`, async (_, kindOfAgent) => {
      const agent = dearAgent(kindOfAgent)
      const { batonpass, store, conversation, summary } = await found(agent, by)
      expect(summary).toMatchObject({ outcome: 'exhausted', limit: 'cost' })
      expect(agent.prompts).toHaveLength(1)
      const before = await recorded(batonpass, summary as RunSummary)
      expect(before.sessions).toMatchObject([{ state: 'paused', progress: { turns: 1 } }])
      expect(before.handoffs).toEqual([])
      expect((await logged(batonpass, summary as RunSummary)).at(-1)).toBe('session.paused')
      // Whoever raises the cap and runs the same key again goes on from there.
      const more = { conversation, budget: { maxCostUsd: 20 } }
      const again = await play(batonpass, agent.runtime, more)
      expect(again.summary).toMatchObject({ outcome: 'completed' })
      expect(agent.prompts).toHaveLength(2)
      const said = await spoken(store, again.summary)
      expect(said.filter((line) => line.startsWith('assistant'))).toEqual([
        'assistant: Half of it.',
        'assistant: Done.',
      ])
      const { sessions } = await recorded(batonpass, again.summary)
      expect(sessions.at(-1)).toMatchObject({ state: 'completed' })
      expect(await batonpass.audit.verify(again.summary.conversationId)).toMatchObject({ value: { intact: true } })
    })
})
