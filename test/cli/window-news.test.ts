import { describe, expect, it } from 'vitest'
import { describeRunEvent, renderFigures } from '../../src/adapters/cli/render/run-lines.ts'
import { RunProgress } from '../../src/adapters/cli/render/run-progress.ts'
import { UNKNOWN_FIGURES } from '../../src/domain/run/run-event.ts'
import type { RunEvent } from '../../src/entry/index.ts'

const event = (body: object): RunEvent =>
  ({ version: 1, agentName: 'a', jobId: null, sessionId: 's', ...body }) as RunEvent
const unknown = event({ type: 'context:window:unknown', why: 'no_window', model: 'm-1' })

describe('what the command line says of a window', () => {
  it.each([
    [unknown, 'no restart is possible: the size of the window is not known; give it with --context-limit (m-1)'],
    [
      event({ type: 'context:window:unknown', why: 'no_reading', model: null }),
      'no restart is possible: the agent does not say what its requests used',
    ],
    [
      event({ type: 'context:window:lowered', fromTokens: 1_000_000, toTokens: 175_000 }),
      'the usable window is smaller than it was thought to be: 175k instead of 1M, for the rest of the session',
    ],
  ])('is plain', (said, line) => {
    expect(describeRunEvent(said)).toBe(line)
  })

  it('stays on the status line while it is so', () => {
    const lines: string[] = []
    const progress = new RunProgress({ line: (text) => lines.push(text), status: () => {} })
    progress.take(unknown)
    expect(lines).toHaveLength(1)
    expect(progress.statusLine()).toContain('no restart is possible')
    progress.take(
      event({ type: 'turn:recorded', turn: 1, toolCalls: [], usagePercent: 0.4, inputTokens: 1, contextWindow: 1_000 }),
    )
    expect(progress.statusLine()).not.toContain('no restart is possible')
  })

  it('is not that of a thread, whose lines name its agent', () => {
    const lines: string[] = []
    const progress = new RunProgress({ line: (text) => lines.push(text), status: () => {} })
    const begins = { type: 'session:start', isContinuation: false, previousSessionId: null }
    progress.take(event({ ...begins, epoch: 4, conversationId: 'root' }))
    progress.take(event({ ...begins, epoch: 1, conversationId: 'child', agentName: 'coder' }))
    expect(progress.statusLine()).toContain('session 4')
    expect(lines).toEqual(['session 4 begins (s)', '[coder] session 1 begins (s)'])
    const about = { handoffId: 'h', fromAgent: 'planner', toAgent: 'coder', threadId: 't' }
    expect(describeRunEvent(event({ type: 'thread:start', ...about, task: 'Parse\nall of it' }))).toBe(
      'planner delegates to coder: Parse (thread t)',
    )
    expect(describeRunEvent(event({ type: 'thread:end', ...about, outcome: 'failed', reason: 'No disk' }))).toBe(
      'the thread of coder is failed: No disk (thread t)',
    )
  })

  it('is a percentage where that is all there is', () => {
    expect(renderFigures({ ...UNKNOWN_FIGURES, usagePercent: 0.61 })).toBe('[██████░░░░] 61 %')
  })

  it('says what the tokens are a share of, and the short form only how many there are', () => {
    const figures = {
      inputTokens: 173_000,
      contextWindow: 167_000,
      windowEnd: 'compaction',
      wholeWindow: 200_000,
    } as const
    const full = { usagePercent: 1.0359, ...figures }
    expect(renderFigures(full)).toBe('[██████████] 103 %, 173k of 167k before it compacts (200k window)')
    expect(renderFigures(full, { isShort: true })).toBe('[██████████] 103 %, 173k of 167k')
  })

  it('is the same percentage as everywhere, though hooks are told a rounded fraction', () => {
    // 84.999 % of the window: the fraction is rounded to 0.85, and the milestone there is not reached.
    const figures = { ...UNKNOWN_FIGURES, usagePercent: 0.85, inputTokens: 84_999, contextWindow: 100_000 }
    expect(renderFigures(figures)).toContain('84 %, 85k of 100k')
  })
})
