import { describe, expect, it } from 'vitest'
import {
  type AgentSession,
  type Batonpass,
  createBatonpass,
  everyPage,
  type RestartBudget,
  type RunRequest,
} from '../../src/entry/index.ts'
import type { ScriptedRuntime } from '../../src/entry/testing.ts'
import { ENDS, FILLS, type Played, play as playWith, recorded, script, TASK, turn } from '../runner/played.ts'
import { openStore, RULE_STORES } from '../support/stores.ts'

let keys = 0

const stage = async (kind: (typeof RULE_STORES)[number]) => {
  const { store, passTime } = await openStore(kind)
  const batonpass = await createBatonpass({ store })
  keys += 1
  const key = `case-${process.pid}-${keys}`
  return { batonpass, passTime, key }
}

const play = (
  { batonpass, key }: Pick<Awaited<ReturnType<typeof stage>>, 'batonpass' | 'key'>,
  runtime: ScriptedRuntime,
  more: Partial<RunRequest> = {},
): Promise<Played> => playWith(batonpass, runtime, { conversation: key, ...more })

const budget = (more: Partial<RestartBudget>): RestartBudget => ({ maxRestarts: 3, whenExhausted: 'stop', ...more })

describe.each(RULE_STORES)('restarts on %s', (kind) => {
  it('pressure leads to a checkpoint of the old session and a new one that continues from it', async () => {
    const set = await stage(kind)
    const runtime = script([{ turns: FILLS, checkpoint: '<checkpoint>Half is done.</checkpoint>' }, { turns: ENDS }])
    const { summary, messages } = await play(set, runtime)
    expect(summary).toMatchObject({ outcome: 'completed', sessions: 2, restarts: 1, turns: 4 })
    const { sessions, handoffs } = await recorded(set.batonpass, summary)
    expect(sessions.map(({ state }) => state)).toEqual(['handed_off', 'completed'])
    expect(runtime.questions.map(({ providerSessionId }) => providerSessionId)).toEqual([
      sessions[0]?.providerSessionId,
    ])
    expect(runtime.launches.map(({ how, session }) => [how, session])).toEqual([
      ['start', sessions[0]?.id],
      ['start', sessions[1]?.id],
    ])
    const prompt = runtime.launches[1]?.prompt ?? ''
    expect(prompt.startsWith(TASK)).toBe(true)
    expect(prompt).toContain('Half is done.')
    expect(handoffs).toMatchObject([
      { kind: 'context_restart', status: 'completed', document: 'Half is done.', flags: [] },
    ])
    expect(handoffs[0]?.priorTurnId).toBe(sessions[0]?.progress.lastTurnId)
    expect(handoffs[0]?.triggeringToolCalls.map(({ toolName }) => toolName)).toEqual(['read', 'edit'])
    expect(handoffs[0]).toMatchObject({ targetSessionId: sessions[1]?.id })
    expect(messages.map((message) => (message as { text: string }).text)).toEqual([
      'At 100.',
      'ok',
      'At 900.',
      'ok',
      'At 100.',
      'ok',
      'At 150.',
    ])
    const opening = await everyFirst(set.batonpass, sessions[1])
    expect(opening).toBe(prompt)
  })

  it('after two restarts the prompt holds the second checkpoint only, and the original task', async () => {
    const set = await stage(kind)
    const windows = [{ turns: FILLS, checkpoint: 'FIRST' }, { turns: FILLS, checkpoint: 'SECOND' }, { turns: ENDS }]
    const runtime = script(windows)
    const { summary } = await play(set, runtime)
    const prompt = runtime.launches[2]?.prompt ?? ''
    expect(prompt.startsWith(`${TASK}\n`)).toBe(true)
    expect(prompt).toContain('SECOND')
    expect(prompt).not.toContain('FIRST')
    expect(summary).toMatchObject({ restarts: 2, sessions: 3 })
  })

  it.each([
    [180_000, 1],
    [170_000, 0],
  ])('%i of 200,000 at 0.90 gives %i restarts', async (tokens, restarts) => {
    const set = await stage(kind)
    // The answer of its tool is estimated at one token more.
    const turns = [turn(1_000, 'read'), turn(tokens - 1, 'edit')]
    const runtime = script([{ turns }, { turns: ENDS }], { windowTokens: 200_000 })
    const { summary } = await play(set, runtime, { milestones: [{ name: 'restart', at: 0.9 }] })
    expect(summary.restarts).toBe(restarts)
  })

  it('a checkpoint that fails, or is empty, gives a minimal continuation, flagged', async () => {
    const set = await stage(kind)
    const runtime = script([
      { turns: FILLS, checkpoint: new Error('prompt is too long') },
      { turns: FILLS, checkpoint: '<checkpoint> </checkpoint>' },
      { turns: ENDS },
    ])
    const { summary } = await play(set, runtime)
    const { handoffs } = await recorded(set.batonpass, summary)
    expect(handoffs).toMatchObject([
      {
        flags: ['minimal_continuation', 'checkpoint_failed', 'recap_from_record'],
        checkpoint: { outcome: 'failed', reason: 'prompt is too long' },
      },
      {
        flags: ['minimal_continuation', 'checkpoint_missing', 'recap_from_record'],
        checkpoint: { outcome: 'missing' },
      },
    ])
    expect(handoffs[0]?.document).toBeUndefined()
    expect(runtime.launches[1]?.prompt).toMatch(/^Fix the flaky test\n\n.*inspect the work so far/s)
    // The exhausted session is not resumed.
    expect(runtime.launches.map(({ how }) => how)).toEqual(['start', 'start', 'start'])
  })

  it('one that takes too long is marked so, and the remaining time bounds it', async () => {
    const set = await stage(kind)
    const slow = { turns: FILLS, checkpoint: 'Late.', checkpointMs: 60_000 }
    const first = await play(set, script([slow, { turns: ENDS }]), { checkpointTimeoutMs: 30 })
    expect((await recorded(set.batonpass, first.summary)).handoffs).toMatchObject([
      {
        flags: ['minimal_continuation', 'checkpoint_timed_out', 'recap_from_record'],
        checkpoint: { outcome: 'timed_out' },
      },
    ])
    const other = await stage(kind)
    const began = performance.now()
    const within = { checkpointTimeoutMs: 50_000, budget: budget({ deadlineMs: 2_000, whenExhausted: 'carry_on' }) }
    const second = await play(other, script([slow, { turns: ENDS }]), within)
    expect(performance.now() - began).toBeLessThan(50_000)
    // The time of the conversation is over with it, and so is the run, also where it may carry on without restarts.
    expect(second.summary.outcome).toBe('timed_out')
    expect((await recorded(other.batonpass, second.summary)).handoffs).toMatchObject([{ status: 'failed' }])
  })

  it('the fourth restart with a budget of three stops, and the reason is stored', async () => {
    const set = await stage(kind)
    const { summary, events } = await play(set, script([{ turns: FILLS, checkpoint: 'On.' }]))
    expect(summary).toMatchObject({ outcome: 'exhausted', restarts: 3, sessions: 4 })
    const { sessions } = await recorded(set.batonpass, summary)
    expect(sessions.at(-1)).toMatchObject({ state: 'failed', endReason: summary.reason })
    expect(summary.reason).toContain('3 restarts are used up')
    expect(events.filter(({ type }) => type === 'context:restart:refused')).toMatchObject([{ limit: 'restarts' }])
    // The count is in the record: another run of the conversation has none left either.
    const again = await play(set, script([{ turns: FILLS }]))
    expect(again.summary).toMatchObject({ outcome: 'exhausted', restarts: 0 })
  })

  it('an agent over the milestone right after a restart is stopped before the budget ends', async () => {
    const set = await stage(kind)
    const { summary } = await play(set, script([{ turns: FILLS, checkpoint: 'On.' }, { turns: [turn(900, 'edit')] }]))
    expect(summary).toMatchObject({ outcome: 'exhausted', restarts: 1, sessions: 2 })
    expect(summary.reason).toContain('gets nowhere')
  })

  it('the cost of sessions and checkpoints is part of the budget', async () => {
    const set = await stage(kind)
    const totals = { inputTokens: 100, outputTokens: 10, costUsd: 0.4 }
    const windows = [{ turns: FILLS, checkpoint: 'On.', totals, checkpointTotals: { ...totals, costUsd: 0.2 } }]
    const { summary } = await play(set, script(windows), { budget: budget({ maxCostUsd: 1 }) })
    // 0.4 and 0.2 for the first window and its checkpoint, 0.4 for the second: no other request is made.
    expect(summary).toMatchObject({ outcome: 'exhausted', limit: 'cost', restarts: 1 })
    expect(summary.totals.costUsd).toBeCloseTo(1)
    expect(summary.reason).toContain('dollars')
  })

  it('an aborted run cancels the open handoff, pauses the session and starts nothing', async () => {
    const set = await stage(kind)
    const controller = new AbortController()
    const runtime = script([{ turns: FILLS, checkpoint: 'Late.', checkpointMs: 60_000 }, { turns: ENDS }])
    const run = set.batonpass.run({
      runtime,
      agent: 'claude',
      prompt: TASK,
      conversation: set.key,
      policy: 'auto',
      signal: controller.signal,
    })
    run.on(({ type }) => {
      if (type === 'context:handoff:start') setTimeout(() => controller.abort(new Error('Ctrl-C')), 20)
    })
    const summary = await run.finish()
    expect(summary).toMatchObject({ outcome: 'cancelled', sessions: 1, restarts: 0 })
    expect(summary.reason).toContain('Ctrl-C')
    const { sessions, handoffs } = await recorded(set.batonpass, summary)
    expect(handoffs).toMatchObject([{ status: 'cancelled' }])
    expect(sessions).toMatchObject([{ state: 'paused' }])
    expect(sessions[0]).not.toHaveProperty('heldBy')
    expect(runtime.launches).toHaveLength(1)
    // A later run goes on in the session that was paused.
    const later = await play(set, runtime, { prompt: 'Go on.' })
    expect(runtime.launches[1]).toMatchObject({ how: 'resume', session: sessions[0]?.providerSessionId })
    expect(later.summary.outcome).toBe('completed')
  })

  it('leaving the loop early cancels the run', async () => {
    const set = await stage(kind)
    const runtime = script([{ turns: FILLS }])
    const run = set.batonpass.run({ runtime, agent: 'claude', prompt: TASK, conversation: set.key, policy: 'auto' })
    for await (const _ of run) break
    const summary = await run.summary
    expect(summary.outcome).toBe('cancelled')
    expect((await recorded(set.batonpass, summary)).sessions).toMatchObject([{ state: 'paused' }])
  })

  it('the crossing turn and its handoff are one commit', async () => {
    const set = await stage(kind)
    const { summary } = await play(set, script([{ turns: FILLS, checkpoint: 'On.' }, { turns: ENDS }]))
    const commands = new Map<string, string[]>()
    const trail = everyPage((page) => set.batonpass.history.auditTrail(summary.conversationId, page))
    for await (const { commandId, event } of trail)
      commands.set(commandId, [...(commands.get(commandId) ?? []), event.type])
    const crossing = [...commands.values()].filter((types) => types.includes('handoff.initiated'))
    expect(crossing).toHaveLength(1)
    expect(crossing[0]).toEqual(expect.arrayContaining(['turn.recorded', 'context.milestone_reached', 'session.held']))
  })

  it('a spent budget with carry_on means no more restarts, and the run continues', async () => {
    const set = await stage(kind)
    const windows = [{ turns: FILLS, checkpoint: 'On.' }, { turns: [...FILLS, turn(950, 'edit'), turn(960)] }]
    const carryOn = budget({ maxRestarts: 1, whenExhausted: 'carry_on' })
    const { summary, events } = await play(set, script(windows), { budget: carryOn })
    expect(summary).toMatchObject({ outcome: 'completed', restarts: 1, sessions: 2, turns: 6 })
    expect(events.filter(({ type }) => type === 'context:restart:refused')).toMatchObject([
      { limit: 'restarts', whenExhausted: 'carry_on' },
    ])
  })

  it('a session that the run began by resuming is never resumed again', async () => {
    const set = await stage(kind)
    const runtime = script([{ turns: FILLS, checkpoint: 'On.' }, { turns: ENDS }])
    const { summary } = await play(set, runtime, { resume: 'an-old-session' })
    expect(runtime.launches.map(({ how, session }) => [how, session === 'an-old-session'])).toEqual([
      ['resume', true],
      ['start', false],
    ])
    expect(runtime.questions[0]?.providerSessionId).toBe('an-old-session')
    expect(summary.outcome).toBe('completed')
  })

  it('aggregates span sessions', async () => {
    const set = await stage(kind)
    const totals = { inputTokens: 1_000, outputTokens: 100, requests: 2, costUsd: 0.25 }
    const windows = [
      {
        turns: FILLS,
        checkpoint: 'On.',
        totals,
        checkpointTotals: { inputTokens: 50, outputTokens: 5, costUsd: 0.05 },
      },
      { turns: ENDS, totals },
    ]
    const { summary } = await play(set, script(windows))
    expect(summary).toMatchObject({ sessions: 2, turns: 4, restarts: 1 })
    expect(summary.totals).toMatchObject({ inputTokens: 2_050, outputTokens: 205, requests: 4 })
    expect(summary.totals.costUsd).toBeCloseTo(0.55)
    const { sessions, handoffs } = await recorded(set.batonpass, summary)
    expect(sessions.map(({ totals: used }) => used)).toEqual([totals, totals])
    expect(handoffs[0]?.checkpoint?.totals).toEqual({ inputTokens: 50, outputTokens: 5, costUsd: 0.05 })
  })

  it('what happens to it stands in the audit log, and the log adds up to what is stored', async () => {
    const set = await stage(kind)
    const { summary } = await play(set, script([{ turns: FILLS, checkpoint: 'On.' }, { turns: ENDS }]))
    const verdict = await set.batonpass.audit.verify(summary.conversationId)
    expect(verdict).toMatchObject({ ok: true, value: { intact: true } })
  })
})

/** The text a session opens with. */
const everyFirst = async ({ history }: Batonpass, session: AgentSession | undefined): Promise<string | undefined> => {
  if (session === undefined) return undefined
  for await (const message of everyPage((page) => history.messages(session.conversationId, page)))
    if (message.sessionId === session.id) return message.text
  return undefined
}
