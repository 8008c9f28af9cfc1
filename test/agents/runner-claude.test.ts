import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ASKS, CHECKPOINT, EMPTY, ENDS, FILLS, FULL, run, TASK, textOf } from './claude-runs.ts'
import { bash, type Make, NEEDS_PROC, RUNTIMES, runningIn, TOO_LONG, uses } from './claude-stage.ts'
import { never, PATIENT } from './patience.ts'

/** The command does not say where it compacts, so its window is the model's: it takes more to fill it. Both are below that point. */
const fillsAt = (backend: string): number => (backend === 'claude_code' ? 92_000 : 60_000)

for (const [backend, make] of Object.entries(RUNTIMES)) {
  describe(`a run of ${backend}, for real`, PATIENT, () => {
    it('knows what a long answer added, though its stream says 1 until it is whole', async (t) => {
      const text = 'quokka '.repeat(8_000)
      const turns = [
        { tool: bash('echo one'), usage: uses(12, 20_000, 0, 4_321) },
        { text, usage: uses(9, 300, 24_000, 15_000) },
      ]
      const { sessions, events } = await run(t, make, { turns })
      const { usage } = sessions[0]?.progress.window ?? {}
      ok(usage?.state === 'metered')
      deepEqual([usage.promptTokens, usage.outputTokens, usage.provenance?.semantics], [24_309, 15_000, 'exact'])
      const [first] = events.flatMap((event) => (event.type === 'turn:recorded' ? [event.inputTokens ?? 0] : []))
      ok((first ?? 0) >= 20_012 + 4_321, `${first} tokens after the first turn`)
    })

    it('restarts Opus 4.6 before it compacts, which it does at 167,000 tokens', async (t) => {
      const fills = [
        { tool: bash('echo quokka'), usage: EMPTY },
        { tool: bash('echo still-quokka'), usage: uses(10, 1_000, 145_000, 60) },
        { text: 'This should not be needed.', usage: FULL, after: never },
      ]
      const question = { prompt: ASKS, text: CHECKPOINT, usage: FULL }
      const more = { model: 'claude-opus-4-6' }
      const { api, summary, events, handoffs } = await run(t, make, { windows: [fills, ENDS], question }, more)
      deepEqual([summary.outcome, summary.restarts], ['completed', 1])
      ok(api.requests.every(({ model }) => model === 'claude-opus-4-6' || model.includes('haiku')))
      match(handoffs[0]?.reason ?? '', /of 167k before it compacts/)
      deepEqual(
        events.filter(({ type }) => type === 'context:compaction'),
        [],
      )
      ok(!api.asked.includes('summary'))
    })

    it('fills its window, writes a checkpoint and goes on in a fresh session', async (t) => {
      const question = { prompt: ASKS, text: CHECKPOINT, usage: FULL }
      const { api, home, summary, sessions, handoffs } = await run(t, make, { windows: [FILLS, ENDS], question })
      equal(summary.outcome, 'completed')
      deepEqual([summary.sessions, summary.restarts], [2, 1])
      deepEqual(
        sessions.map(({ state, providerSessionId, id }) => [state, providerSessionId === id]),
        [
          ['handed_off', true],
          ['completed', true],
        ],
      )
      const [handoff] = handoffs
      equal(handoffs.length, 1)
      deepEqual([handoff?.status, handoff?.kind, handoff?.flags], ['completed', 'context_restart', []])
      deepEqual(
        handoff?.triggeringToolCalls.map(({ toolName }) => toolName),
        ['Bash', 'Bash'],
      )
      ok(handoff?.triggeringToolCalls.every(({ callId }) => callId.startsWith('toolu_')))
      equal(handoff?.priorTurnId, sessions[0]?.progress.lastTurnId)
      match(handoff?.document ?? '', /Said quokka/)
      deepEqual(handoff?.checkpoint?.statements, { cited: 1, uncited: 0, miscited: 0, exempt: 0 })
      // Asked of the old session, which sees its own work; the new one sees the task and the checkpoint, and nothing else.
      const asked = api.requests[api.asked.indexOf('question')]
      match(textOf(asked), /echo still-quokka/)
      const first = api.requests.find((body, index) => api.asked[index] === 'turn' && /fresh window/.test(textOf(body)))
      match(textOf(first), new RegExp(TASK))
      match(textOf(first), /Said quokka \[call:toolu_1\]/)
      ok(!textOf(first).includes('still-quokka'))
      equal(sessions[0]?.progress.turns, 2)
      equal(sessions[1]?.progress.turns, 2)
      ok((summary.totals.costUsd ?? 0) > 0)
      deepEqual(runningIn(home), [])
    })

    it('does so twice, and the last prompt has the last checkpoint only', async (t) => {
      const question = { prompt: ASKS, text: CHECKPOINT, usage: FULL }
      const { api, summary, sessions, handoffs } = await run(t, make, { windows: [FILLS, FILLS, ENDS], question })
      deepEqual([summary.outcome, summary.sessions, summary.restarts], ['completed', 3, 2])
      deepEqual(
        sessions.map(({ state }) => state),
        ['handed_off', 'handed_off', 'completed'],
      )
      deepEqual(
        handoffs.map(({ status }) => status),
        ['completed', 'completed'],
      )
      const last = textOf(api.requests.at(-1))
      equal(last.split('left the checkpoint below').length, 2)
      ok(last.includes(handoffs[1]?.id ?? '?'))
      ok(!last.includes(handoffs[0]?.id ?? '?'))
    })

    it('goes on without a checkpoint when the old session cannot write one', async (t) => {
      const question = { prompt: ASKS, usage: FULL, error: TOO_LONG }
      const { api, summary, handoffs } = await run(t, make, { windows: [FILLS, ENDS], question })
      equal(summary.outcome, 'completed')
      deepEqual(handoffs[0]?.flags, ['minimal_continuation', 'checkpoint_failed', 'recap_from_record'])
      equal(handoffs[0]?.checkpoint?.outcome, 'failed')
      match(textOf(api.requests.at(-1)), /left no checkpoint/)
      match(textOf(api.requests.at(-1)), new RegExp(TASK))
    })

    it('restarts when its prompt is too long for the window', async (t) => {
      const overflows = [
        { tool: bash('echo quokka'), usage: EMPTY },
        { usage: EMPTY, error: TOO_LONG },
      ]
      const { api, summary, handoffs, sessions } = await run(
        t,
        make,
        { windows: [overflows, ENDS] },
        { milestones: [{ name: 'restart', at: 0.99 }] },
      )
      equal(summary.outcome, 'completed')
      deepEqual(handoffs[0]?.flags, [
        'window_overflowed',
        'minimal_continuation',
        'checkpoint_skipped',
        'recap_from_record',
      ])
      ok(!api.asked.includes('question'))
      deepEqual(
        sessions.map(({ state }) => state),
        ['handed_off', 'completed'],
      )
    })

    it('leaves it to the agent to make room when no restart is left', NEEDS_PROC, async (t) => {
      const fills = [
        { tool: bash('echo one'), usage: uses(12, 500, 20_000, 40) },
        { tool: bash('echo two'), usage: uses(2_000, 20_000, fillsAt(backend), 40) },
        { text: 'Late.', usage: EMPTY, after: never },
      ]
      const compacts = [
        { tool: bash('echo three'), usage: uses(12, 500, 20_000, 40) },
        { tool: bash('echo four'), usage: uses(2_000, 20_000, 100_000, 40) },
        { tool: bash('echo five'), usage: uses(10, 30_000, 0, 40) },
        { text: 'One to five.', usage: uses(10, 300, 30_000, 40) },
      ]
      const script = {
        windows: [fills, compacts],
        summary: { text: '<summary>Three and four were said.</summary>', usage: uses(110_000, 0, 0, 900) },
        question: { prompt: ASKS, text: CHECKPOINT, usage: FULL },
      }
      const compacting: Make = (env) => make({ ...env, CLAUDE_CODE_AUTO_COMPACT_WINDOW: '150000' })
      const ran = await run(t, compacting, script, {
        milestones: [{ name: 'restart', at: 0.55 }],
        budget: { maxRestarts: 1, whenExhausted: 'carry_on' },
      })
      deepEqual([ran.summary.outcome, ran.summary.restarts], ['completed', 1])
      equal(ran.events.filter(({ type }) => type === 'context:restart:refused').length, 1)
      equal(ran.events.filter(({ type }) => type === 'context:compaction').length, 1)
      equal(ran.api.asked.filter((asker) => asker === 'summary').length, 1)
      deepEqual(
        ran.handoffs.map(({ status }) => status),
        ['completed'],
      )
      equal(ran.sessions[1]?.progress.turns, 4)
    })
  })
}
