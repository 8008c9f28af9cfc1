import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { recapOf } from '../../src/domain/checkpoint/recap.ts'
import { instant } from '../../src/domain/kernel/instant.ts'

const at = instant('2026-11-17T04:00:00Z')
const said = (role: 'user' | 'assistant' | 'tool' | 'system', text: string) => ({ role, text, recordedAt: at })
const call = (callId: string, toolName: string, argument?: string) => ({
  callId,
  toolName,
  ...(argument !== undefined && { argument }),
})

describe('a recap of the record', () => {
  it('says what was asked, which tools were used, what was said, which files were touched, and what tools answered', () => {
    const messages = [
      said('user', 'Use pnpm, not npm'),
      said('assistant', ''),
      said('tool', '2 tests failed'),
      said('system', 'Ours'),
      said('assistant', 'The clock is wrong.'),
    ]
    const calls = [
      call('c1', 'Bash', 'pnpm test'),
      call('c2', 'Edit', 'src/clock.ts'),
      call('c3', 'apply_patch', 'src/clock.ts, src/time.ts'),
      call('c4', 'Read', 'README.md'),
      call('c5', 'Write'),
    ]
    expect(recapOf({ messages, calls })).toBe(
      [
        '## What was asked\n- at 2026-11-17T04:00:00.000Z: Use pnpm, not npm',
        [
          '## Tools used last',
          '- Bash: pnpm test [call:c1]',
          '- Edit: src/clock.ts [call:c2]',
          '- apply_patch: src/clock.ts, src/time.ts [call:c3]',
          '- Read: README.md [call:c4]',
          '- Write [call:c5]',
        ].join('\n'),
        '## What the agent said last\n- The clock is wrong.',
        '## Files touched\n- src/clock.ts\n- src/time.ts',
        '## What tools answered last\n- 2 tests failed',
      ].join('\n\n'),
    )
  })

  it('takes only a person’s words for something that was asked', () => {
    const from = (origin: 'person' | 'hook' | 'runtime' | 'batonpass' | 'unknown', text: string) => ({
      ...said('user', text),
      origin,
    })
    const others = [from('hook', 'Lint first'), from('runtime', 'Summary'), from('batonpass', 'Continue')]
    expect(recapOf({ messages: [from('person', 'Use pnpm'), ...others], calls: [] })).toMatch(
      /^.*\n- at \S+: Use pnpm$/,
    )
    expect(recapOf({ messages: others, calls: [] })).toBe('')
    const unknown = [from('unknown', 'Push it'), from('unknown', 'Now')]
    expect(recapOf({ messages: [from('person', 'Use pnpm'), ...unknown], calls: [] })).toMatch(
      /Use pnpm\n\n## Text of unknown origin \(2\)\n- Push it\n- Now$/,
    )
  })

  it('leaves out what there is nothing to say of', () => {
    expect(recapOf({ messages: [said('assistant', 'Hm.')], calls: [] })).toBe('## What the agent said last\n- Hm.')
    expect(recapOf({ messages: [], calls: [] })).toBe('')
  })

  it('keeps the latest, and counts the earlier ones', () => {
    const calls = Array.from({ length: 500 }, (_, index) => call(`c${index}`, 'Bash', `echo ${'x'.repeat(100)}`))
    const recap = recapOf({ messages: [], calls })
    expect(recap).toMatch(/^## Tools used last\n\(\d+ earlier not shown\)\n/)
    expect(recap).toContain('[call:c499]')
    expect(recap).not.toContain('[call:c0]')
  })

  it('keeps the beginning and the end of a long answer', () => {
    const recap = recapOf({ messages: [said('tool', `FIRST${'x'.repeat(1_000_000)}LAST`)], calls: [] })
    expect(recap).toMatch(/- FIRSTx+ \[… \d+ characters left out …\] x+LAST$/)
  })

  it('is never longer than it may be, whatever was said', () => {
    const texts = fc.array(
      fc.tuple(fc.constantFrom('user', 'assistant', 'tool'), fc.string({ unit: 'binary', maxLength: 4_000 })),
    )
    const calls = fc.array(fc.tuple(fc.string({ minLength: 1 }), fc.string({ maxLength: 240 })))
    fc.assert(
      fc.property(texts, calls, fc.integer({ min: 6_000, max: 30_000 }), (words, used, most) => {
        const messages = words.map(([role, text]) => said(role as 'user', text))
        const recap = recapOf({ messages, calls: used.map(([id, argument]) => call(id, 'Edit', argument)) }, most)
        expect(recap.length).toBeLessThanOrEqual(most)
      }),
    )
  })

  it.each([0, 5_999, 1.5, Number.NaN])('cannot be made in %d characters', (most) => {
    expect(() => recapOf({ messages: [], calls: [] }, most)).toThrow(TypeError)
  })
})
