import { describe, expect, it } from 'vitest'
import { mapTexts, TEXT_WITHHELD, withholdTexts } from '../../src/domain/kernel/texts.ts'
import { conversationOf, HANDOFFS, handoffOf, SESSIONS } from './samples.ts'

describe('texts withheld', () => {
  it('replaces what people and agents wrote, at any depth, and nothing else', () => {
    const event = {
      type: 'x',
      at: 'now',
      messages: [{ id: 'm', role: 'user', text: 'secret' }],
      count: 2,
      reason: 'why',
    }
    expect(withholdTexts(event)).toStrictEqual({
      type: 'x',
      at: 'now',
      messages: [{ id: 'm', role: 'user', text: TEXT_WITHHELD }],
      count: 2,
      reason: TEXT_WITHHELD,
    })
  })

  it('leaves no text of a conversation, a failed session or a handoff', () => {
    const written = [
      conversationOf({ originalTask: 'SECRET' }),
      { ...SESSIONS.failed, endReason: 'SECRET' },
      handoffOf({ status: 'initiated' }, { reason: 'SECRET', document: 'SECRET' }),
      { ...HANDOFFS.failed, endReason: 'SECRET' },
      { prompt: 'SECRET', continuation: 'SECRET' },
    ]
    expect(JSON.stringify(withholdTexts(written))).not.toContain('SECRET')
  })

  it('changes nothing the second time, invents no text, and leaves the original alone', () => {
    const handoff = handoffOf({ status: 'initiated' })
    const withheld = withholdTexts(handoff)
    expect(withholdTexts(withheld)).toStrictEqual(withheld)
    expect(Object.keys(withheld)).toEqual(Object.keys(handoff))
    expect(handoff.reason).toBe('The window is nearly full')
  })

  it('can put each text through any function', () => {
    expect(mapTexts({ text: 'a', name: 'a', list: [{ text: 'b' }] }, (text) => text.toUpperCase())).toStrictEqual({
      text: 'A',
      name: 'a',
      list: [{ text: 'B' }],
    })
  })
})
