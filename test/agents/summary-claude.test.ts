import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import * as sdk from '@anthropic-ai/claude-agent-sdk'
import { agentSdkSummarizer } from '../../src/adapters/claude/runtime/agent-sdk-summarizer.ts'
import { summaryFrom } from '../../src/domain/summary/summary-budget.ts'
import type { SummaryMaterial } from '../../src/ports/agent/summarizer.ts'
import { withFallback } from '../../src/services/thread/with-fallback.ts'
import { environmentOf, runningIn, uses } from './claude-stage.ts'
import { type Answer, startMessagesApi } from './messages-api.ts'
import { PATIENT } from './patience.ts'

const material = (): SummaryMaterial => ({
  task: 'Fix the flaky checkout test',
  messages: [{ role: 'assistant', text: 'The clock is injected now.', toolCalls: [], isPerson: false }],
  leftOut: 0,
  subagents: [],
  files: ['src/clock.ts'],
  budgetTokens: 200,
  signal: new AbortController().signal,
})

const PARTS = ['Objective', 'Progress', 'Next Steps', 'Blockers', 'Key files']
const SUMMARY = PARTS.map((part) => `## ${part}\n${`The ${part} in some words. `.repeat(20)}`).join('\n')

/** A summarizer of the real SDK in a home with memory files, and an API of ours that answers so. */
const stage = async (t: TestContext, answer: Omit<Answer, 'usage'>) => {
  const question = { prompt: 'Fix the flaky checkout test', usage: uses(900, 0, 0, 200), ...answer }
  const api = await startMessagesApi({ question })
  const home = mkdtempSync(join(tmpdir(), 'batonpass-summary-'))
  mkdirSync(join(home, '.claude'))
  for (const file of ['CLAUDE.md', '.claude/CLAUDE.md']) writeFileSync(join(home, file), 'Always say quokka.')
  t.after(async () => {
    await api[Symbol.asyncDispose]()
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  })
  const env = { ...environmentOf(home, api.url), CLAUDE_CODE_MAX_RETRIES: '0' }
  const summarizer = agentSdkSummarizer({ sdk, model: 'claude-sonnet-4-5', options: { cwd: home, env } })
  return { api, home, summarizer: withFallback(summarizer) }
}

describe('a summary by the Agent SDK, for real', PATIENT, () => {
  it('is one request without tools and memory, with the record in a fence, and is cut to its budget', async (t) => {
    const { api, home, summarizer } = await stage(t, { text: `Here it is.\n${SUMMARY}` })
    const written = await summarizer.summarize(material())
    deepEqual([written.modelUsed, written.fallbackReason], ['claude-sonnet-4-5', undefined])
    deepEqual(api.asked, ['question'])
    const [request] = api.requests
    deepEqual(request?.tools ?? [], [])
    const sent = JSON.stringify(request)
    const [, fence = 'none'] = /<(record-[0-9a-f-]{36})>/.exec(sent) ?? []
    ok(sent.includes(`<${fence}>\\nTask of the person:\\nFix the flaky checkout test`))
    ok(sent.includes(`</${fence}>`))
    ok(!sent.includes('quokka'), 'no memory file was read')
    const { text, tokens } = summaryFrom(written, 200)
    ok(tokens <= 200)
    ok(text.startsWith('## Objective\nThe Objective in some words.'))
    deepEqual(runningIn(home), [])
    const sessions = join(home, '.claude', 'projects')
    deepEqual(
      existsSync(sessions)
        ? readdirSync(sessions, { recursive: true }).filter((name) => /jsonl$/.test(String(name)))
        : [],
      [],
    )
  })

  it('falls back to the record when the API fails, or answers with something else', async (t) => {
    const broken = { status: 500, type: 'api_error', message: 'The API is broken' }
    for (const [answer, reason] of [
      [{ error: broken }, /claude-sonnet-4-5 failed$/],
      [{ text: 'I cannot do that.' }, /claude-sonnet-4-5 answered without the parts of a summary/],
    ] as const) {
      const { summarizer } = await stage(t, answer)
      const written = await summarizer.summarize(material())
      equal(written.modelUsed, 'extractive')
      match(written.fallbackReason ?? '', reason)
      const { text } = summaryFrom(written)
      ok(text.startsWith('Written without a model, from the record: claude-sonnet-4-5 '))
      ok(text.includes('"Fix the flaky checkout test"'))
    }
  })
})
