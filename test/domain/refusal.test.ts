import { describe, expect, it } from 'vitest'
import { describeRefusal, isOvertaken, type Refusal, type RefusalCode, refuseForAll } from '../../src/domain/refusal.ts'
import { EVERY_REFUSAL as EVERY } from './every-refusal.ts'

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

/** What each code says of the session or the handoff: `true` when somebody else has it now. */
const IS_OVERTAKEN: Readonly<Record<RefusalCode, boolean>> = {
  'conversation.session_active': true,
  'conversation.handoff_open': true,
  'session.not_active': true,
  'session.illegal_transition': true,
  'session.held': true,
  'session.superseded': true,
  'session.leased': true,
  'session.not_leased': true,
  'handoff.already_open': true,
  'handoff.illegal_transition': true,
  'handoff.already_claimed': true,
  'handoff.not_claimant': true,
  // Its sample has `session.not_active` among its reasons.
  several: true,
  'input.invalid': false,
  'conversation.not_found': false,
  'conversation.closed': false,
  'conversation.open': false,
  'conversation.key_taken': false,
  'session.not_found': false,
  'session.no_token': false,
  'session.attached': false,
  'session.no_turns': false,
  'turn.not_found': false,
  'turn.not_last': false,
  'tool_call.not_found': false,
  'handoff.not_found': false,
  'handoff.same_agent': false,
  'handoff.checkpointed': false,
  'handoff.extracted': false,
  'prompt.fence_not_unique': false,
  'command.id_reused': false,
  'transaction.conflict': false,
  'budget.unpriced': false,
  'budget.unmetered': false,
  'thread.not_summarized': false,
  'thread.no_workspace': false,
  'thread.refinements_spent': false,
  'thread.summary_empty': false,
  'thread.block_not_reset': false,
  'thread.other_store': false,
  'thread.reported': false,
  'feed.moved': false,
}

describe('somebody else has it now', () => {
  it.each(Object.values<Refusal>(EVERY))('$code says so, or does not', (refusal) => {
    expect(isOvertaken(refusal)).toBe(IS_OVERTAKEN[refusal.code])
  })

  it('is said by several reasons as soon as one of them says it, however deep', () => {
    const mendable = EVERY['handoff.same_agent']
    expect(isOvertaken({ code: 'several', reasons: [mendable, EVERY['session.no_turns']] })).toBe(false)
    const within: Refusal = {
      code: 'several',
      reasons: [mendable, { code: 'several', reasons: [EVERY['session.held']] }],
    }
    expect(isOvertaken(within)).toBe(true)
  })
})
