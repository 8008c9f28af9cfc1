import { describe, expect, it } from 'vitest'
import { describeRefusal, type Refusal, type RefusalCode, refuseForAll } from '../../src/domain/refusal.ts'
import { COMMAND, CONVERSATION, DEADLINE, HANDOFF, SESSION, TURN } from './samples.ts'

const EVERY = {
  'input.invalid': {
    code: 'input.invalid',
    fields: [
      { field: 'reason', problem: 'it is blank' },
      { field: 'turns[0].messages', problem: 'it is empty' },
    ],
  },
  'conversation.closed': { code: 'conversation.closed', conversationId: CONVERSATION, since: DEADLINE },
  'conversation.open': { code: 'conversation.open', conversationId: CONVERSATION },
  'conversation.not_found': { code: 'conversation.not_found', conversationId: CONVERSATION },
  'conversation.session_active': {
    code: 'conversation.session_active',
    conversationId: CONVERSATION,
    sessionId: SESSION,
    agentName: 'claude-code',
  },
  'conversation.handoff_open': { code: 'conversation.handoff_open', conversationId: CONVERSATION, handoffId: HANDOFF },
  'conversation.key_taken': { code: 'conversation.key_taken', externalKey: 'job-7', conversationId: CONVERSATION },
  'session.not_found': { code: 'session.not_found', sessionId: SESSION },
  'session.not_active': { code: 'session.not_active', sessionId: SESSION, state: 'handed_off' },
  'session.illegal_transition': {
    code: 'session.illegal_transition',
    sessionId: SESSION,
    from: 'completed',
    command: 'resume',
  },
  'session.held': { code: 'session.held', sessionId: SESSION, handoffId: HANDOFF, command: 'resume' },
  'session.superseded': { code: 'session.superseded', sessionId: SESSION },
  'session.no_token': { code: 'session.no_token', sessionId: SESSION },
  'session.attached': { code: 'session.attached', sessionId: SESSION, providerSessionId: 'provider-1' },
  'budget.unpriced': { code: 'budget.unpriced', model: 'house-model', maxCostUsd: 5 },
  'budget.unmetered': { code: 'budget.unmetered', missing: 'usage', maxCostUsd: 5 },
  'session.leased': { code: 'session.leased', sessionId: SESSION, until: DEADLINE },
  'session.not_leased': { code: 'session.not_leased', sessionId: SESSION },
  'session.no_turns': { code: 'session.no_turns', sessionId: SESSION },
  'turn.not_last': { code: 'turn.not_last', sessionId: SESSION, turnId: TURN },
  'turn.not_found': { code: 'turn.not_found', conversationId: CONVERSATION, turnId: TURN },
  'tool_call.not_found': { code: 'tool_call.not_found', conversationId: CONVERSATION, callIds: ['call-1', 'call-2'] },
  'handoff.not_found': { code: 'handoff.not_found', handoffId: HANDOFF },
  'handoff.same_agent': { code: 'handoff.same_agent', agent: 'claude-code' },
  'handoff.already_open': { code: 'handoff.already_open', sessionId: SESSION, handoffId: HANDOFF },
  'handoff.illegal_transition': {
    code: 'handoff.illegal_transition',
    handoffId: HANDOFF,
    from: 'completed',
    command: 'cancel',
  },
  'handoff.checkpointed': { code: 'handoff.checkpointed', handoffId: HANDOFF },
  'handoff.extracted': { code: 'handoff.extracted', handoffId: HANDOFF },
  'handoff.already_claimed': {
    code: 'handoff.already_claimed',
    handoffId: HANDOFF,
    claimant: 'worker-1',
    deadline: DEADLINE,
  },
  'handoff.not_claimant': {
    code: 'handoff.not_claimant',
    handoffId: HANDOFF,
    claimant: 'worker-1',
    deadline: DEADLINE,
    by: 'worker-2',
    command: 'complete',
  },
  'prompt.fence_not_unique': { code: 'prompt.fence_not_unique', field: 'continuation', fence: 'checkpoint-0190' },
  'command.id_reused': { code: 'command.id_reused', commandId: COMMAND },
  'transaction.conflict': { code: 'transaction.conflict', commandId: COMMAND, at: 'session s has moved on' },
  'thread.not_summarized': { code: 'thread.not_summarized', conversationId: CONVERSATION, cause: 'no answer' },
  'thread.no_workspace': { code: 'thread.no_workspace', conversationId: CONVERSATION },
  'thread.refinements_spent': { code: 'thread.refinements_spent', draftId: COMMAND, most: 3 },
  'thread.summary_empty': { code: 'thread.summary_empty', draftId: COMMAND },
  'thread.reported': { code: 'thread.reported', handoffId: HANDOFF },
  'thread.block_not_reset': { code: 'thread.block_not_reset', file: 'CLAUDE.md', cause: 'it is read-only' },
  'thread.other_store': {
    code: 'thread.other_store',
    file: 'CLAUDE.md',
    threadKey: 'two',
    expiresAt: DEADLINE,
  },
  'feed.moved': { code: 'feed.moved', generation: 2, continueFrom: 'WzIsImFiYyJd' },
  several: {
    code: 'several',
    reasons: [
      { code: 'session.not_active', sessionId: SESSION, state: 'paused' },
      { code: 'handoff.same_agent', agent: 'claude-code' },
    ],
  },
} as const satisfies { readonly [Code in RefusalCode]: Extract<Refusal, { code: Code }> }

/** Everything a sentence must repeat: each detail, the code aside. */
const detailsOf = (refusal: Refusal): readonly string[] =>
  Object.entries(refusal).flatMap(([name, value]) => {
    if (name === 'code') return []
    if (name === 'reasons') return (value as readonly Refusal[]).flatMap(detailsOf)
    if (name === 'fields') return (value as readonly object[]).flatMap((field) => Object.values(field))
    return Array.isArray(value) ? value.map(String) : [String(value)]
  })

const readable = (refusal: Refusal): string => {
  const sentence = describeRefusal(refusal)
  expect(sentence).toMatch(/^\S.*\.$/s)
  expect(sentence).not.toMatch(/undefined|null|NaN|\[object|\$\{/)
  return sentence
}

describe('the sentence of a refusal', () => {
  it.each(Object.values<Refusal>(EVERY))('$code names what it is about', (refusal) => {
    const sentence = readable(refusal)
    for (const detail of detailsOf(refusal)) expect(sentence).toContain(detail)
  })

  it('of a stranger without a name still reads well', () => {
    const { by: _, ...nameless } = EVERY['handoff.not_claimant']
    expect(readable(nameless)).toContain('may not complete it')
    expect(readable(EVERY['handoff.not_claimant'])).toContain('"worker-2" may not complete it')
  })
})

describe('several reasons', () => {
  it('are one refusal; one reason is itself; none is none', () => {
    const reasons = [EVERY['session.no_turns'], EVERY['handoff.same_agent']]
    expect(refuseForAll(reasons)).toStrictEqual({ code: 'several', reasons })
    expect(refuseForAll(reasons.slice(0, 1))).toBe(reasons[0])
    expect(refuseForAll([])).toBeUndefined()
  })
})
