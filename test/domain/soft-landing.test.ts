import { describe, expect, it } from 'vitest'
import { DEFAULT_SOFT_LANDING, hasLanded, softLandingText } from '../../src/domain/run/soft-landing-text.ts'

describe('the text of a soft landing', () => {
  it('says how to stop where a fresh session can begin at once, and to go on where it cannot', () => {
    expect(softLandingText('Land.\n', { mayStop: true })).toMatch(
      /^Land\.\nWhen that unit .* make \[landed\] the last line/,
    )
    expect(softLandingText('Land.', { mayStop: false })).toBe(
      'Land.\nThen continue the task in small steps. Do not stop before the task is done.',
    )
    expect(DEFAULT_SOFT_LANDING).toMatch(/unit of work at hand to an end.*a successor can pick up/s)
  })
})

describe('an answer', () => {
  it.each(['[landed]', 'Saved it.\n\n[landed]\n', 'Saved.\n**[landed]**', 'Saved.\n`[Landed]`  \n\n'])(
    'of an agent that has landed: %j',
    (answer) => expect(hasLanded(answer)).toBe(true),
  )

  it.each(['', 'Done.', 'I will write [landed] later.', '[landed]\nAll is done.', 'landed', 'Saved. [landed]'])(
    'of one that has not: %j',
    (answer) => expect(hasLanded(answer)).toBe(false),
  )
})
