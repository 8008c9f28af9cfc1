import { describe, expect, it } from 'vitest'
import { describeRunEvent } from '../../src/adapters/cli/render/run-lines.ts'
import { RunProgress } from '../../src/adapters/cli/render/run-progress.ts'
import { toJsonLine } from '../../src/adapters/cli/render/text.ts'
import { agentSessionId, conversationId, handoffId } from '../../src/domain/kernel/ids.ts'
import type { RunEvent, RunEventType, RunOrigin } from '../../src/domain/run/run-event.ts'
import { expectHarmlessLines, NASTY, textsIn } from './nasty.ts'

const ID = '0190a0a0-0000-7000-8000-000000000001'
const [sessionId, handoff, conversation] = [agentSessionId(ID), handoffId(ID), conversationId(ID)]
const figures = { usagePercent: 0.5, inputTokens: 1, contextWindow: 2, windowEnd: 'window', wholeWindow: 2 } as const
const agents = { handoffId: handoff, fromAgent: NASTY, toAgent: NASTY }
const sessions = { oldSessionId: sessionId, newSessionId: sessionId }
const totals = { inputTokens: 1, outputTokens: 1 }

type Body<Type extends RunEventType> = Omit<Extract<RunEvent, { type: Type }>, 'type' | keyof RunOrigin>

/** One of each: an event that is missing here does not compile. */
const BODIES: { readonly [Type in RunEventType]: Body<Type> } = {
  'session:start': { sessionId, epoch: 1, isContinuation: true, previousSessionId: null },
  'conversation:follow_up': { sessionId, resumes: NASTY, freshBecause: null },
  'session:end': { sessionId, state: 'failed', reason: NASTY },
  'session:replaced': { sessionId },
  'runner:gone': { sessionId, host: NASTY, pid: 1 },
  'process:left': { sessionId, host: NASTY, pid: 1, fate: 'elsewhere' },
  'turn:recorded': { sessionId, ...figures, turn: 1, toolCalls: [{ callId: NASTY, toolName: NASTY }] },
  'tool:refused': { sessionId, toolName: NASTY, argument: NASTY, isWrite: true, allowedBy: NASTY },
  'context:milestone': { sessionId, ...figures, milestone: NASTY },
  'context:landing': { sessionId, ...figures },
  'context:compaction': { sessionId, trigger: 'auto', preTokens: 1 },
  'context:window:lowered': { sessionId, fromTokens: 2, toTokens: 1 },
  'context:window:unknown': { sessionId, why: 'no_window', model: NASTY },
  'context:handoff:start': { ...figures, handoffId: handoff, oldSessionId: sessionId },
  'context:handoff:checkpoint': { handoffId: handoff, outcome: 'kept' },
  'context:handoff:complete': { ...figures, handoffId: handoff, ...sessions, handoffNumber: 1 },
  'agent:handoff:start': { ...agents, oldSessionId: sessionId, reason: NASTY },
  'agent:handoff:complete': { ...agents, ...sessions },
  'agent:handoff:left': { ...agents, oldSessionId: sessionId },
  'thread:start': { ...agents, threadId: conversation, task: NASTY },
  'thread:end': { handoffId: handoff, toAgent: NASTY, threadId: conversation, outcome: 'failed', reason: NASTY },
  'context:handoff:cancelled': { handoffId: handoff, reason: NASTY },
  'context:restart:refused': { sessionId, limit: 'restarts', whenExhausted: 'stop' },
  'budget:reached': { sessionId, limit: 'cost', costUsd: 1, estimatedUsd: 0 },
  'run:warning': { code: 'handoff.refused', message: NASTY },
  'hook:called': {
    sessionId,
    moment: 'on_error',
    hook: NASTY,
    ok: false,
    error: { code: 'hook.exit', message: NASTY, lastLine: NASTY },
  },
  'run:end': {
    summary: {
      conversationId: conversation,
      outcome: 'failed',
      reason: NASTY,
      sessions: 1,
      turns: 1,
      restarts: 0,
      transfers: 0,
      threads: 0,
      refusedTools: [],
      writes: 0,
      totals,
      durationMs: 1,
    },
  },
}

const events = Object.entries(BODIES).map(
  ([type, body]) =>
    ({
      type,
      version: 1,
      conversationId: conversation,
      agentName: NASTY,
      jobId: NASTY,
      providerSessionId: NASTY,
      ...body,
    }) as RunEvent,
)

describe('an event of a run, as "run", "work" and "recover" show it', () => {
  it.each(events)('is one line, whatever is in it: $type', (event) => {
    expect(describeRunEvent(event)).not.toContain('\n')
    expectHarmlessLines(describeRunEvent(event))
    const json = toJsonLine(event)
    expectHarmlessLines(json)
    expect(textsIn(JSON.parse(json))).toContain(NASTY)
  })

  it('leaves the line of progress one line', () => {
    const shown: string[] = []
    const progress = new RunProgress({ line: (text) => void shown.push(text), status: (text) => void shown.push(text) })
    for (const event of events) progress.take(event)
    for (const line of shown) {
      expect(line).not.toContain('\n')
      expectHarmlessLines(line)
    }
  })
})
