import { describe, expect, it } from 'vitest'
import { functionRuntime } from '../../src/adapters/runtime/function-runtime.ts'
import type { AuditEvent } from '../../src/domain/audit-event.ts'
import { systemClock } from '../../src/entry/container.ts'
import type { AgentSession, HandoffMetadata } from '../../src/entry/index.ts'
import { MemoryStore } from '../../src/entry/memory.ts'
import { createBatonpass } from '../../src/main/batonpass.ts'
import { feed } from './feed.ts'
import type { Found } from './found.ts'
import { type Job, jobIn, jobsOf, keyOf, taskOf } from './job.ts'
import { judge } from './judge.ts'
import { readOptions } from './options.ts'
import { type ExecutedStep, stepIn, textOf } from './step.ts'

const JOBS: readonly Job[] = [
  { number: 1, chain: ['coder'] },
  { number: 2, chain: ['coder', 'reviewer'] },
]

/** A small fleet in this process, and everything that it has left. */
const worked = async (): Promise<{ readonly found: Found; readonly steps: readonly ExecutedStep[] }> => {
  const store = new MemoryStore({ clock: systemClock })
  await using batonpass = await createBatonpass({ store })
  const steps: ExecutedStep[] = []
  const runtimeOf = (agent: string) =>
    functionRuntime({
      backend: 'fleet',
      start: async function* ({ prompt }) {
        const job = jobIn(prompt) as Job
        const next = job.chain[job.chain.indexOf(agent) + 1]
        const step = { id: `w1-${steps.length + 1}`, by: 'w1', job: job.number, agent, at: 0 }
        steps.push(step)
        yield { step, ...(next !== undefined && { asksTransfer: { to: next, document: 'Done.' } }) }
      },
      read: ({ step, ...more }) => ({
        events: [{ type: 'request', key: step.id, promptTokens: 9, outputTokens: 1 }],
        texts: [{ role: 'assistant', text: textOf(step) }],
        ...more,
      }),
    })
  await feed(store, JOBS, () => {})
  const stop = new AbortController()
  const agents = { coder: runtimeOf('coder'), reviewer: runtimeOf('reviewer') }
  const working = batonpass.work({ agents, signal: stop.signal, pollMs: { least: 1, most: 5 } })
  const isDone = async (job: Job): Promise<boolean> => {
    const conversation = await store.conversations.findByExternalKey(keyOf(job))
    const { items = [] } = conversation ? await store.sessions.listForConversation(conversation.id, {}) : {}
    return items.at(-1)?.state === 'completed' && items.length === job.chain.length + 1
  }
  for (const job of JOBS) while (!(await isDone(job))) await new Promise((resolve) => setTimeout(resolve, 5))
  stop.abort()
  await working
  return { found: await foundIn(store), steps }
}

const foundIn = async (store: MemoryStore): Promise<Found> => {
  const parts = JOBS.map(async (job) => {
    const key = keyOf(job)
    const { id = '' as never } = (await store.conversations.findByExternalKey(key)) ?? {}
    const handoffs = (await store.handoffs.listForConversation(id, {})).items
    const sessions = (await store.sessions.listForConversation(id, {})).items
    const messages = (await store.messages.listMessages(id, {})).items
    return {
      handoffs: handoffs.map((handoff) => handoffRow(key, handoff)),
      sessions: sessions.map((session) => sessionRow(key, session)),
      answers: messages
        .filter(({ role }) => role === 'assistant')
        .map(({ sessionId, turnId = '', text }) => ({ session_id: sessionId, turn_id: turnId, text })),
      events: (await store.audit.list(id, {})).items.map(({ event }) => event),
    }
  })
  const all = await Promise.all(parts)
  return {
    handoffs: all.flatMap(({ handoffs }) => handoffs),
    sessions: all.flatMap(({ sessions }) => sessions),
    answers: all.flatMap(({ answers }) => answers),
    events: all.flatMap(({ events }) => events),
  }
}

const handoffRow = (key: string, handoff: HandoffMetadata) => {
  const { id, kind, targetAgent: target_agent, status } = handoff
  const target_session_id = handoff.status === 'completed' ? handoff.targetSessionId : null
  return { id, key, kind, target_agent, status, target_session_id }
}

const sessionRow = (key: string, { id, agentName: agent_name, state, epoch }: AgentSession) => ({
  id,
  key,
  agent_name,
  state,
  epoch,
})

/** Changes the first thing that fits. */
const changed = <T>(items: readonly T[], fits: (item: T) => boolean, change: (item: T) => T | readonly T[]): T[] => {
  const at = items.findIndex(fits)
  if (at < 0) throw new Error('There is nothing to tamper with')
  return items.flatMap((item, index) => (index === at ? change(item) : [item]))
}

type Events = readonly AuditEvent[]
const isOf =
  (type: AuditEvent['type']) =>
  (event: AuditEvent): boolean =>
    event.type === type

/** Each thing that must never happen, and under which name it is found. */
const TAMPERINGS: Readonly<
  Record<string, { readonly kind: 'lost' | 'doubled' | 'overlaps'; readonly forge: (found: Found) => Partial<Found> }>
> = {
  'a handoff that was never completed': {
    kind: 'lost',
    forge: ({ handoffs }) => ({
      handoffs: changed(
        handoffs,
        () => true,
        (one) => ({ ...one, status: 'initiated', target_session_id: null }),
      ),
    }),
  },
  'a handoff that is gone': { kind: 'lost', forge: ({ handoffs }) => ({ handoffs: handoffs.slice(1) }) },
  'a session that nobody ended': {
    kind: 'lost',
    forge: ({ sessions }) => ({
      sessions: changed(
        sessions,
        ({ state }) => state === 'completed',
        (one) => ({ ...one, state: 'active' }),
      ),
    }),
  },
  'work that is not on record': {
    kind: 'lost',
    forge: ({ answers }) => ({ answers: answers.filter(({ text }) => stepIn(text)?.job !== 1) }),
  },
  'a second completion': {
    kind: 'doubled',
    forge: ({ events }) => ({ events: changed(events as Events, isOf('handoff.completed'), (one) => [one, one]) }),
  },
  'a second target session': {
    kind: 'doubled',
    forge: ({ sessions }) => ({
      sessions: changed(
        sessions,
        () => true,
        (one) => [one, { ...one, id: 'another' }],
      ),
    }),
  },
  'a step that is recorded twice': {
    kind: 'doubled',
    forge: ({ answers }) => ({ answers: [...answers, ...answers] }),
  },
  'a step that nobody did': {
    kind: 'doubled',
    forge: ({ answers }) => ({
      answers: [...answers, { session_id: '', turn_id: '', text: 'Step x-9 by x: job 1 as coder' }],
    }),
  },
  'a claim beside another': {
    kind: 'overlaps',
    forge: ({ events }) => ({ events: changed(events as Events, isOf('handoff.accepted'), (one) => [one, one]) }),
  },
  'a completion by somebody else': {
    kind: 'overlaps',
    forge: ({ events }) => ({
      events: changed(events as Events, isOf('handoff.completed'), (one) => ({ ...one, by: 'a thief' }) as AuditEvent),
    }),
  },
  'a turn of somebody who is not the holder': {
    kind: 'overlaps',
    forge: ({ answers, events }) => {
      const turn = events.find(isOf('turn.recorded') as (event: AuditEvent) => boolean)
      const said = answers.find(({ text }) => stepIn(text) !== undefined)
      const other = { session_id: '', turn_id: 'other', text: 'Step w1-1 by w2: job 1 as coder' }
      const session = { sessionId: said?.session_id }
      const stranger = { ...turn, ...session, turn: { id: 'other' } } as unknown as AuditEvent
      return { answers: [...answers, other], events: [...events, stranger] }
    },
  },
}

describe('the judge of a fleet', async () => {
  const { found, steps } = await worked()

  it('finds nothing wrong with work that was done', () => {
    const { lost, doubled, overlaps, completed } = judge(JOBS, found, steps)
    expect([...lost, ...doubled, ...overlaps]).toEqual([])
    expect(completed).toBe(3)
  })

  it.each(Object.entries(TAMPERINGS))('sees %s', (_, { kind, forge }) => {
    expect(judge(JOBS, { ...found, ...forge(found) }, steps)[kind]).not.toEqual([])
  })
})

describe('the jobs of a fleet', () => {
  it('have as many handoffs as are asked for, and are read back from their tasks', () => {
    for (const handoffs of [1, 2, 20, 2_000])
      expect(jobsOf(handoffs).flatMap(({ chain }) => chain)).toHaveLength(handoffs)
    expect(jobsOf(20).map((job) => jobIn(`As said: ${taskOf(job)} And more.`))).toEqual(jobsOf(20))
  })

  it('are chosen by flags, then by the environment', () => {
    const environment = { FLEET_WORKERS: '3', FLEET_HANDOFFS: '40' }
    expect(readOptions(['--workers', '5'], environment)).toMatchObject({ workers: 5, handoffs: 40, isDisturbed: true })
    expect(readOptions(['--help'], {})).toBeUndefined()
    expect(() => readOptions(['--workers', '0'], {})).toThrow('--workers must be')
  })
})
