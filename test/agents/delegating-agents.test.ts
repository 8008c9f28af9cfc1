import { deepEqual, equal, ok } from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { createBatonpass } from '../../src/entry/index.ts'
import { EMPTY, TASK } from './claude-runs.ts'
import { bash, RUNTIMES, stage } from './claude-stage.ts'
import { codexAt } from './codex-stage.ts'
import { PATIENT } from './patience.ts'
import { startResponsesApi } from './responses-api.ts'

const delegates = (to: string, task: string) => ({
  tool: { name: 'mcp__baton_run__delegate', input: { to, task } },
  usage: EMPTY,
})

describe('a real agent that delegates', PATIENT, () => {
  it('lets the claude command and Codex work at the same time, and is told what both came to', async (t) => {
    const make = (backend: string) => RUNTIMES[backend] ?? (() => Promise.reject(new Error(backend)) as never)
    const planner = await stage(t, make('claude_agent_sdk'), {
      windows: [
        [
          delegates('coder', 'Write the numbat'),
          delegates('reviewer', 'Review the wombat'),
          { text: 'I wait for both.', usage: EMPTY },
          { text: 'Both are done.', usage: EMPTY },
        ],
      ],
    })
    let review = (): void => undefined
    const isReviewing = new Promise<void>((resolve) => {
      review = resolve
    })
    const coder = await stage(t, make('claude_code'), {
      windows: [
        [
          { tool: bash('echo numbat'), usage: EMPTY },
          // Not before the other thread has begun: they work at the same time, or never end.
          { text: 'The numbat is written.', usage: EMPTY, after: () => isReviewing },
        ],
      ],
    })
    const home = mkdtempSync(join(tmpdir(), 'batonpass-delegating-'))
    t.after(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }))
    const used = { input: 12_000, cached: 0, output: 40 }
    await using api = await startResponsesApi(async () => {
      review()
      return { text: 'The wombat is fine.', ...used }
    })
    await using batonpass = await createBatonpass({ store: 'memory' })
    const summary = await batonpass
      .run({
        agents: {
          planner: planner.runtime,
          coder: coder.runtime,
          reviewer: { runtime: codexAt(api.url, home), model: 'gpt-5.5' },
        },
        start: 'planner',
        prompt: TASK,
        policy: 'auto',
        workspace: { workingDirectory: planner.home },
      })
      .finish()
    deepEqual([summary.outcome, summary.reason, summary.threads, summary.sessions], ['completed', undefined, 2, 1])

    const { conversationId } = summary
    const lineage = await batonpass.history.lineage(conversationId)
    deepEqual(
      lineage?.threads.map(({ conversation, sessions, openedBy }) => [
        conversation.originalTask,
        sessions.map(({ backend, state }) => `${backend} ${state}`),
        openedBy?.triggeringToolCalls.some(({ toolName }) => toolName.endsWith('delegate')),
      ]),
      [
        ['Write the numbat', ['claude_code completed'], true],
        ['Review the wombat', ['codex completed'], true],
      ],
    )
    const { items: messages } = await batonpass.history.messages(conversationId)
    const reports = messages.filter(({ reports: handoff }) => handoff !== undefined)
    deepEqual(
      reports.map(({ reports: handoff }) => handoff),
      lineage?.threads.map(({ openedBy }) => openedBy?.id),
    )
    // The planner's last request is the one that tells it of both.
    const told = JSON.stringify(planner.api.requests.at(-1)?.messages)
    for (const words of ['The numbat is written.', 'The wombat is fine.']) ok(told.includes(words), told.slice(-3_000))
    equal(messages.at(-1)?.text, 'Both are done.')
    for (const id of [conversationId, ...(lineage?.threads.map(({ conversation }) => conversation.id) ?? [])]) {
      const verdict = await batonpass.audit.verify(id)
      ok(verdict.ok && verdict.value.intact)
    }
  })
})
