import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ASKS, CHECKPOINT, EMPTY, ENDS, FILLS, FULL, run, textOf } from './claude-runs.ts'
import { bash, UNCOMPACTED, uses } from './claude-stage.ts'
import { never, PATIENT } from './patience.ts'

for (const [backend, make] of Object.entries(UNCOMPACTED)) {
  describe(`a window of ${backend} that is nearly full and compacted by nobody`, PATIENT, () => {
    it('still gets its checkpoint asked at 0.90, where the command would refuse to ask by itself', async (t) => {
      const question = { prompt: ASKS, text: CHECKPOINT, usage: uses(10, 1_000, 184_000, 60) }
      const fills = [
        { tool: bash('echo quokka'), usage: EMPTY },
        { tool: bash('echo still-quokka'), usage: uses(10, 1_000, 184_000, 60) },
        { text: 'This should not be needed.', usage: FULL, after: never },
      ]
      const milestones = [{ name: 'restart', at: 0.9 }]
      const script = { windows: [fills, ENDS], question }
      const { api, summary, handoffs } = await run(t, make, script, { milestones })
      equal(api.asked.filter((asker) => asker === 'question').length, 1)
      deepEqual([summary.outcome, summary.restarts], ['completed', 1])
      deepEqual([handoffs[0]?.checkpoint?.outcome, handoffs[0]?.flags], ['kept', []])
      match(handoffs[0]?.document ?? '', /Said quokka/)
    })

    it('is asked on between the limit of the command and the milestone, and restarts with a checkpoint after it', async (t) => {
      const below = uses(10, 1_000, 177_000, 60)
      const above = uses(10, 1_000, 181_000, 60)
      const fills = [
        { tool: bash('echo quokka'), usage: EMPTY },
        { tool: bash('echo below'), usage: below },
        { tool: bash('echo above'), usage: above },
        { text: 'This should not be needed.', usage: FULL, after: never },
      ]
      const question = { prompt: ASKS, text: CHECKPOINT, usage: above }
      const milestones = [{ name: 'restart', at: 0.9 }]
      const ran = await run(t, make, { windows: [fills, ENDS], question }, { milestones })
      deepEqual([ran.summary.outcome, ran.summary.restarts], ['completed', 1])
      equal(ran.sessions[0]?.progress.turns, 3)
      // The request after 178,010 tokens reached the API, with the result of the tool before it.
      ok(ran.api.requests.some((body, index) => ran.api.asked[index] === 'turn' && /echo below/.test(textOf(body))))
      equal(ran.api.asked.filter((asker) => asker === 'question').length, 1)
      deepEqual([ran.handoffs[0]?.checkpoint?.outcome, ran.handoffs[0]?.flags], ['kept', []])
      match(textOf(ran.api.requests[ran.api.asked.indexOf('question')]), /echo above/)
    })

    it('counts every request of a session that was interrupted, with what it cost about', async (t) => {
      const question = { prompt: ASKS, text: CHECKPOINT, usage: FULL }
      const { summary, sessions } = await run(t, make, { windows: [FILLS, ENDS], question })
      equal(sessions[0]?.totals?.requests, 2)
      ok((sessions[0]?.totals?.inputTokens ?? 0) >= 191_022)
      ok((sessions[0]?.totals?.costUsd ?? 0) > 0)
      equal(sessions[1]?.totals?.requests, 2)
      equal(sessions[1]?.totals?.estimatedUsd, undefined)
      ok((summary.totals.requests ?? 0) >= 5)
    })

    it('ends when it has cost what it may, with the request that did it', async (t) => {
      const question = { prompt: ASKS, text: CHECKPOINT, usage: FULL }
      const script = { windows: [FILLS, ENDS], question }
      const { api, summary, sessions, handoffs } = await run(t, make, script, { budget: { maxCostUsd: 0.05 } })
      deepEqual([summary.outcome, summary.limit], ['exhausted', 'cost'])
      equal(handoffs.length, 0)
      deepEqual([sessions.length, sessions[0]?.state], [1, 'paused'])
      equal(api.asked.filter((asker) => asker === 'question').length, 0)
    })
  })
}
