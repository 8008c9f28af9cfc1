import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createBatonpass, unwrap } from '../../src/entry/index.ts'
import type { Measurement } from '../../src/entry/ports.ts'
import { FixedClock } from '../../src/entry/testing.ts'
import { ENDS, FILLS, play, script } from '../runner/played.ts'
import { RecordingMeters } from './recording-meter.ts'

const AGENT = { agentName: 'writer', backend: 'claude_agent_sdk', model: 'opus' }
const OF_AGENT = { 'gen_ai.provider.name': 'anthropic', 'gen_ai.agent.name': 'writer', 'gen_ai.request.model': 'opus' }
const metered = (promptTokens: number) => ({ state: 'metered' as const, promptTokens, outputTokens: 90 })
const MESSAGES = [{ role: 'assistant' as const, text: 'A secret', toolCalls: [{ callId: 'c', toolName: 'shell' }] }]

/** A program that calls the services itself, with a session at work. */
const program = async (monitor: object = { contextLimit: 100_000 }) => {
  const clock = new FixedClock()
  const { handoffs } = await createBatonpass({ store: 'memory', clock })
  const { conversation } = unwrap(await handoffs.openConversation({ originalTask: 'Another secret' }))
  const working = unwrap(await handoffs.startSession({ conversationId: conversation.id, ...AGENT, monitor }))
  return { clock, handoffs, working }
}

describe('commands of a program, as metrics', () => {
  it('turns are counted with their tokens and the level of the window', async () => {
    const meters = RecordingMeters.collecting()
    const { handoffs, working } = await program()
    const turns = [
      { messages: MESSAGES, usage: metered(20_000) },
      { messages: MESSAGES, usage: metered(30_000) },
    ]
    unwrap(await handoffs.recordTurns({ ...working, turns }))
    expect(meters.of('batonpass.turns')).toEqual([
      { value: 1, attributes: OF_AGENT },
      { value: 1, attributes: OF_AGENT },
    ])
    const chat = { ...OF_AGENT, 'gen_ai.operation.name': 'chat' }
    expect(meters.of('gen_ai.client.token.usage')).toEqual([
      { value: 20_000, attributes: { ...chat, 'gen_ai.token.type': 'input' } },
      { value: 90, attributes: { ...chat, 'gen_ai.token.type': 'output' } },
      { value: 30_000, attributes: { ...chat, 'gen_ai.token.type': 'input' } },
      { value: 90, attributes: { ...chat, 'gen_ai.token.type': 'output' } },
    ])
    expect(meters.of('batonpass.window.level')).toEqual([{ value: expect.closeTo(0.3, 1), attributes: OF_AGENT }])
  })

  it('tokens that were estimated, or not read at all, are no tokens used', async () => {
    const meters = RecordingMeters.collecting()
    const { handoffs, working } = await program({})
    const provenance = { runtime: 'claude', source: 'length', semantics: 'estimate' as const }
    const turns = [{ messages: MESSAGES, usage: { ...metered(20_000), provenance } }, { messages: MESSAGES }]
    unwrap(await handoffs.recordTurns({ ...working, turns }))
    expect(meters.of('batonpass.turns')).toHaveLength(2)
    expect(meters.of('gen_ai.client.token.usage')).toEqual([])
    expect(meters.of('batonpass.window.level')).toEqual([])
  })

  it('handoffs are counted by kind and outcome, and how long they waited for their first claim', async () => {
    const meters = RecordingMeters.collecting()
    const { handoffs, working, clock } = await program()
    const worked = unwrap(await handoffs.recordTurn({ ...working, messages: MESSAGES }))
    const to = { targetAgent: 'reviewer', reason: 'A third secret' }
    const first = unwrap(await handoffs.initiateHandoff({ ...worked, ...to }))
    clock.advance(90_000)
    unwrap(await handoffs.claimNext({ targetAgent: 'reviewer', claimant: 'one', claimMs: 1_000 }))
    clock.advance(600_000)
    unwrap(await handoffs.acceptHandoff({ handoff: first.handoff.id, claimant: 'two' }))
    unwrap(await handoffs.cancelHandoff({ handoff: first.handoff.id, by: 'two', reason: 'No' }))
    const again = unwrap(await handoffs.initiateHandoff({ session: working.session.id, byHand: true, ...to }))
    unwrap(await handoffs.completeHandoff({ handoff: again.handoff }))
    const about = {
      'batonpass.handoff.kind': 'agent_transfer',
      'gen_ai.agent.name': 'writer',
      'batonpass.handoff.target_agent': 'reviewer',
    }
    const counted = meters.of('batonpass.handoffs')
    expect(counted.map(({ attributes }) => attributes)).toEqual(
      ['initiated', 'cancelled', 'initiated', 'completed'].map((outcome) => ({
        ...about,
        'batonpass.outcome': outcome,
      })),
    )
    const { 'gen_ai.agent.name': _, ...claimed } = about
    expect(meters.of('batonpass.handoff.time_to_claim')).toEqual([
      { value: 90, attributes: claimed },
      { value: 0, attributes: claimed },
    ])
    expect(meters.of('batonpass.restarts')).toEqual([])
  })

  it('restarts are counted, and those that the budget refuses', async () => {
    const meters = RecordingMeters.collecting()
    const { handoffs, working } = await program({ contextLimit: 100_000, policy: 'auto' })
    const { conversationId } = working.session
    const full = { ...working, messages: MESSAGES, usage: metered(95_000) }
    const { handoff } = unwrap(await handoffs.recordTurn(full))
    if (handoff === undefined) throw new Error('It was not restarted')
    const next = unwrap(await handoffs.completeHandoff({ handoff }))
    unwrap(await handoffs.setBudget({ conversation: conversationId, budget: { maxRestarts: 1 } }))
    unwrap(await handoffs.recordTurn({ ...next, messages: MESSAGES, usage: metered(95_000) }))
    expect(meters.of('batonpass.restarts')).toEqual(
      ['completed', 'refused'].map((outcome) => ({
        value: 1,
        attributes: { 'gen_ai.agent.name': 'writer', 'batonpass.outcome': outcome },
      })),
    )
  })

  it('refused and repeated commands count nothing', async () => {
    const meters = RecordingMeters.collecting()
    const { handoffs, working } = await program()
    const turn = { ...working, messages: MESSAGES, commandId: crypto.randomUUID() as never }
    unwrap(await handoffs.recordTurn(turn))
    unwrap(await handoffs.recordTurn(turn))
    expect((await handoffs.initiateHandoff({ ...working, targetAgent: 'writer', reason: 'x' })).ok).toBe(false)
    expect(meters.of('batonpass.turns')).toHaveLength(1)
    expect(meters.of('batonpass.handoffs')).toEqual([])
  })
})

describe('a run, as metrics', () => {
  it('counts each turn and restart once, and the time of each session', async () => {
    const meters = RecordingMeters.collecting()
    const batonpass = await createBatonpass({ store: 'memory' })
    const { summary } = await play(batonpass, script([{ turns: FILLS, checkpoint: 'On.' }, { turns: ENDS }]))
    expect(meters.of('batonpass.turns')).toHaveLength(summary.turns)
    expect(meters.of('batonpass.restarts')).toHaveLength(1)
    const times = meters.of('gen_ai.invoke_agent.duration')
    expect(times).toHaveLength(2)
    expect(times[0]?.attributes).toMatchObject({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'claude',
    })
  })
})

describe('metrics', () => {
  it('have units and descriptions, no ids and no texts, and stand in the table of the docs', async () => {
    const meters = RecordingMeters.collecting()
    const { handoffs, working } = await program()
    unwrap(await handoffs.recordTurn({ ...working, messages: MESSAGES, usage: metered(20_000) }))
    const operating = readFileSync('docs/operating.md', 'utf8')
    expect(meters.instruments.size).toBe(7)
    for (const [name, { unit, description, scope }] of meters.instruments) {
      expect(scope).toBe('batonpass')
      expect(description).toMatch(/^[A-Z].*\.$/)
      expect(operating.split('\n').filter((line) => line.startsWith(`| \`${name}\``))).toEqual([
        expect.stringContaining(`| \`${unit}\``),
      ])
    }
    const values = meters.recorded.flatMap(({ attributes }) => Object.values(attributes))
    expect(values.length).toBeGreaterThan(5)
    for (const value of values) expect(String(value)).not.toMatch(/secret|[\da-f]{8}-[\da-f]{4}/)
  })

  it('reach a provider that is set up after the first command', async () => {
    const { handoffs, working } = await program()
    const worked = unwrap(await handoffs.recordTurn({ ...working, messages: MESSAGES }))
    const meters = RecordingMeters.collecting()
    unwrap(await handoffs.recordTurn({ ...working, ...worked, messages: MESSAGES }))
    expect(meters.of('batonpass.turns')).toHaveLength(1)
  })

  it('that fail, and an observer that does, change nothing', async () => {
    const fails = (): never => {
      throw new Error('Full')
    }
    const measured: (readonly Measurement[])[] = []
    const telemetry = {
      session: fails,
      command: fails,
      measure: (all: readonly Measurement[]) => {
        measured.push(all)
        fails()
      },
    }
    const { handoffs } = await createBatonpass({ store: 'memory', telemetry })
    const { conversation } = unwrap(await handoffs.openConversation({ originalTask: 'x' }))
    const working = unwrap(await handoffs.startSession({ conversationId: conversation.id, ...AGENT }))
    expect(unwrap(await handoffs.recordTurn({ ...working, messages: MESSAGES })).session.progress.turns).toBe(1)
    expect(measured.flat().map(({ type }) => type)).toEqual(['turn'])
  })
})
