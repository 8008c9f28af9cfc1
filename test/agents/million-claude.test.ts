import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ASKS, CHECKPOINT, EMPTY, ENDS, FULL, run } from './claude-runs.ts'
import { bash, type Make, RUNTIMES, uses } from './claude-stage.ts'
import { never, PATIENT } from './patience.ts'

const MODEL = { model: 'claude-opus-5' }
const make = RUNTIMES.claude_code as Make
/** The command says how large its window is with its result only: until then its variables do. */
const withoutMillion: Make = (env) => make({ ...env, CLAUDE_CODE_DISABLE_1M_CONTEXT: '1' })

const FILLS = [
  { tool: bash('echo quokka'), usage: EMPTY },
  { tool: bash('echo still-quokka'), usage: uses(10, 1_000, 164_000, 60) },
]

describe('Opus 5 in a command whose million is switched off', PATIENT, () => {
  it('is 99 % full at 165,000 tokens, before the command has said its window', async (t) => {
    const turns = [...FILLS, { text: 'Quokka.', usage: uses(10, 300, 20_000, 40) }]
    const { events } = await run(t, withoutMillion, { turns }, { ...MODEL, policy: 'manual' })
    const full = events.find((event) => event.type === 'turn:recorded' && event.turn === 2)
    ok(full?.type === 'turn:recorded')
    equal(full.contextWindow, 167_000)
    equal(Math.round((full.usagePercent ?? 0) * 100), 99)
  })

  it('is restarted before it compacts', async (t) => {
    const fills = [...FILLS, { text: 'This should not be needed.', usage: FULL, after: never }]
    const question = { prompt: ASKS, text: CHECKPOINT, usage: FULL }
    const { api, summary, handoffs } = await run(t, withoutMillion, { windows: [fills, ENDS], question }, MODEL)
    deepEqual([summary.outcome, summary.restarts], ['completed', 1])
    match(handoffs[0]?.reason ?? '', /of 167k before it compacts/)
    ok(!api.asked.includes('summary'))
  })

  it('has its million otherwise', async (t) => {
    const turns = [...FILLS, { text: 'Quokka.', usage: uses(10, 300, 20_000, 40) }]
    const { events } = await run(t, make, { turns }, { ...MODEL, policy: 'manual' })
    const full = events.find((event) => event.type === 'turn:recorded' && event.turn === 2)
    ok(full?.type === 'turn:recorded')
    equal(Math.round((full.usagePercent ?? 0) * 100), 17)
  })
})
