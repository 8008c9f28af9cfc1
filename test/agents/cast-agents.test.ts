import { deepEqual, equal, ok } from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { createBatonpass } from '../../src/entry/index.ts'
import { ASKS, EMPTY, TASK } from './claude-runs.ts'
import { bash, RUNTIMES, stage } from './claude-stage.ts'
import { codexAt, installCodex } from './codex-stage.ts'
import type { Body } from './messages-api.ts'
import { never, PATIENT } from './patience.ts'
import { startResponsesApi } from './responses-api.ts'

const HANDOFF = 'mcp__baton_run__handoff'
const to = (name: string, reason: string) => ({ tool: { name: HANDOFF, input: { to: name, reason } }, usage: EMPTY })
/** Whoever has handed its work over is interrupted, and asked for no more. */
const unneeded = { text: 'This should not be needed.', usage: EMPTY, after: never }
const checkpoint = (words: string): string => `<checkpoint>\n## Completed work\n- ${words}\n</checkpoint>`
const question = (words: string) => ({ prompt: ASKS, text: checkpoint(words), usage: EMPTY })

/** What the person says before the task: no agent is told to pass it on. */
const WORDS = 'Never touch the legacy folder, please.'

const turnsOf = (api: { readonly requests: readonly Body[]; readonly asked: readonly string[] }): readonly string[] =>
  api.requests.filter((_, index) => api.asked[index] === 'turn').map(({ messages }) => JSON.stringify(messages))

describe('real agents that hand the work to each other', PATIENT, () => {
  it('goes from the SDK to the claude command, to Codex and back to the SDK', async (t) => {
    const make = (backend: string) => RUNTIMES[backend] ?? (() => Promise.reject(new Error(backend)) as never)
    const planner = await stage(t, make('claude_agent_sdk'), {
      windows: [
        [
          { text: 'Understood.', usage: EMPTY },
          { tool: bash('echo quokka'), usage: EMPTY },
          to('coder', 'The plan stands.'),
          unneeded,
        ],
        [{ text: 'All of it is done.', usage: EMPTY }],
      ],
      question: question('Planned the quokka.'),
    })
    const coder = await stage(t, make('claude_code'), {
      windows: [[{ tool: bash('echo numbat'), usage: EMPTY }, to('reviewer', 'The code stands.'), unneeded]],
      question: question('Coded the numbat.'),
    })
    const home = mkdtempSync(join(tmpdir(), 'batonpass-cast-'))
    t.after(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }))
    // The agents of a cast have tools from their first window on, beside those that are installed for terminals.
    await installCodex(home)
    const reviewed: string[] = []
    const used = { input: 12_000, cached: 0, output: 40 }
    await using api = await startResponsesApi(async (sent, gone) => {
      if (sent.includes(ASKS)) return { text: checkpoint('Reviewed the wombat.'), ...used }
      const asked = reviewed.push(sent)
      if (asked === 1) return { command: 'echo wombat', ...used }
      if (asked > 2) await never(gone)
      return { tool: { server: 'baton_run', name: 'handoff', input: { to: 'planner', reason: 'Seen.' } }, ...used }
    })
    await using batonpass = await createBatonpass({ store: 'memory' })
    const cast = {
      agents: {
        planner: planner.runtime,
        coder: coder.runtime,
        reviewer: { runtime: codexAt(api.url, home), model: 'gpt-5.5' },
      },
      start: 'planner',
      conversation: 'job-1',
      policy: 'auto',
      workspace: { workingDirectory: planner.home },
    } as const
    await batonpass.run({ ...cast, prompt: WORDS }).finish()
    const summary = await batonpass.run({ ...cast, prompt: TASK }).finish()
    deepEqual([summary.outcome, summary.reason, summary.transfers], ['completed', undefined, 3])

    const { conversationId } = summary
    const { items: sessions } = await batonpass.history.sessions(conversationId)
    deepEqual(
      sessions.map(({ agentName, backend, state }) => [agentName, backend, state]),
      [
        ['planner', 'claude_agent_sdk', 'completed'],
        ['planner', 'claude_agent_sdk', 'handed_off'],
        ['coder', 'claude_code', 'handed_off'],
        ['reviewer', 'codex', 'handed_off'],
        ['planner', 'claude_agent_sdk', 'completed'],
      ],
    )
    const { items: handoffs } = await batonpass.history.handoffs(conversationId)
    deepEqual(
      handoffs.map(({ kind, status, sourceAgent, targetAgent, reason }) => [
        kind,
        status,
        sourceAgent,
        targetAgent,
        reason,
      ]),
      [
        ['agent_transfer', 'completed', 'planner', 'coder', 'The plan stands.'],
        ['agent_transfer', 'completed', 'coder', 'reviewer', 'The code stands.'],
        ['agent_transfer', 'completed', 'reviewer', 'planner', 'Seen.'],
      ],
    )
    for (const { triggeringToolCalls } of handoffs)
      ok(
        triggeringToolCalls.some(({ toolName }) => toolName.endsWith('handoff')),
        JSON.stringify(triggeringToolCalls),
      )

    // Each successor's first request has the task, all that the person said, and the checkpoint of the one before it.
    const [first] = turnsOf(coder.api)
    const last = turnsOf(planner.api).at(-1)
    const begins = [first, reviewed[0], last].map((request) => request ?? '')
    for (const [index, words] of ['Planned the quokka.', 'Coded the numbat.', 'Reviewed the wombat.'].entries()) {
      ok(begins[index]?.includes(words), `${words}: ${begins[index]?.slice(-3_000)}`)
      ok(begins[index]?.includes(TASK), `the task is in request ${index + 1}`)
      ok(begins[index]?.includes(WORDS), `the person's words are in request ${index + 1}`)
    }
    const lineage = await batonpass.history.lineage(conversationId)
    ok(lineage)
    const verdict = await batonpass.audit.verify(conversationId)
    ok(verdict.ok && verdict.value.intact)
    equal(handoffs.length, 3)
  })
})
