import { describe, expect, it } from 'vitest'
import { type AgentRuntime, type Batonpass, createBatonpass } from '../../src/entry/index.ts'
import { onMemory } from './on-memory.ts'
import { functionHook, logged, play, recorded } from './played.ts'

let batonpass: Batonpass
onMemory((made) => {
  ;({ batonpass } = made)
})

const WRITE = { toolName: 'Write', argument: '/shop/plan.md', isWrite: true, allowedBy: 'acceptEdits' }

/** A runtime that answers once, and tells what was refused and written. */
const telling = (noted: object): AgentRuntime => ({
  backend: 'telling',
  takesSessionId: false,
  reportsWindow: true,
  start: () => ({
    steps: (async function* () {
      yield {
        message: 'said',
        events: [{ type: 'unmetered' as const, key: 'a' }],
        texts: [{ role: 'assistant' as const, text: 'I have written the plan.' }],
      }
      yield { events: [], texts: [], ...noted, end: { type: 'idle' as const } }
    })(),
    interrupt: async () => undefined,
  }),
})

describe('a run whose tools are refused', () => {
  it('has not completed when every write was, and its session has', async () => {
    const { summary, events } = await play(batonpass, telling({ refused: [WRITE, WRITE] }))
    expect(summary).toMatchObject({
      outcome: 'writes_refused',
      reason: 'The agent was allowed to change no file: every attempt was refused.',
      refusedTools: [{ agentName: 'claude', toolName: 'Write', isWrite: true, allowedBy: 'acceptEdits', count: 2 }],
      writes: 0,
    })
    const told = events.flatMap((event) => (event.type === 'tool:refused' ? [event] : []))
    expect(told).toMatchObject([WRITE, WRITE])
    expect((await recorded(batonpass, summary)).sessions).toMatchObject([{ state: 'completed' }])
    expect((await logged(batonpass, summary)).at(-1)).toBe('session.completed')
  })

  it.each([
    ['some were done', { refused: [WRITE], writes: 1 }],
    ['only something else was refused', { refused: [{ toolName: 'WebFetch', isWrite: false }] }],
    ['nothing was refused', {}],
    ['what the runtime tells cannot be read', { refused: [7, null, {}], writes: -1 }],
  ])('has completed when %s', async (_, noted) => {
    expect((await play(batonpass, telling(noted))).summary.outcome).toBe('completed')
  })

  it('is a failure to hooks: what follows a completed run does not follow it', async () => {
    const told: string[] = []
    const hooks = (['after_run', 'on_error'] as const).map((moment) =>
      functionHook(
        moment,
        (payload) => void told.push(`${moment} ${(payload as { hook_event_name: string }).hook_event_name}`),
      ),
    )
    await play(batonpass, telling({ refused: [WRITE] }), { hooks })
    expect(told.toSorted()).toEqual(['after_run failed', 'on_error failed'])
  })

  it('is told without secrets', async () => {
    const redact = (text: string): string => text.replaceAll('plan', '[hidden]')
    await using hiding = await createBatonpass({ store: 'memory', redact })
    const { events } = await play(hiding, telling({ refused: [WRITE] }))
    expect(JSON.stringify(events)).not.toContain('/shop/plan.md')
  })
})
