import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { reviewCheckpoint } from '../../src/domain/checkpoint/checkpoint-review.ts'
import { CHECKPOINT_SECTIONS } from '../../src/domain/checkpoint/checkpoint-section.ts'

const CALLS = new Set(['a1', 'a2'])

const review = (text: string, maxCharacters?: number) =>
  reviewCheckpoint(text, { knownCalls: CALLS, ...(maxCharacters !== undefined && { maxCharacters }) })

/** Statements as `line standing text`, the short way to read them. */
const statements = (text: string): readonly string[] =>
  review(text).statements.map(({ line, standing, text: said }) => `${line} ${standing} ${said}`)

describe('sections', () => {
  it.each([
    '# Files changed',
    '###### files changed',
    '   ## FILES CHANGED ##',
    '## Files changed:',
    '## 8. Files changed',
    '## **Files changed**',
    '## Files  changed',
    'Files changed\n=============',
    'Files changed\n---',
    '**Files changed**',
    '**Files changed:**',
    '**Files Changed**:',
    '__Files changed__',
    '8. **Files changed**',
    '- **Files changed:** src/clock.ts',
    '**Files changed:** src/clock.ts',
    'Files changed:',
    'FILES CHANGED:\r\nsrc/clock.ts',
  ])('are met in %j', (text) => {
    expect(review(`Before\n\n${text}\nAfter`).sections).toEqual(['Files changed'])
  })

  it.each([
    'Files changed',
    'Files changed: none',
    '#Files changed',
    '####### Files changed',
    '    ## Files changed',
    '## Files changed today',
    '**Files changed** are few',
    'The **Files changed** section',
    '- Files changed',
    '```sh\n# Files changed\n```',
    `# ${' '.repeat(200)}Files changed`,
  ])('are not met in %j', (text) => expect(review(text).sections).toEqual([]))

  it('are told apart by being there or missing, in the order they are asked for', () => {
    const { sections, missingSections } = review('## Open issues\n## Goal\n## Notes\n## goal')
    expect(sections).toEqual(['Goal', 'Open issues'])
    expect(missingSections).toEqual(CHECKPOINT_SECTIONS.filter((name) => !['Goal', 'Open issues'].includes(name)))
    expect(review(CHECKPOINT_SECTIONS.map((name) => `## ${name}`).join('\n')).missingSections).toEqual([])
  })
})

describe('statements', () => {
  it.each([
    ['- Done', ['1 uncited Done']],
    ['* Done\n+ Done\n1. Done\n2) Done', [1, 2, 3, 4].map((line) => `${line} uncited Done`)],
    ['- [x] Done\n- [ ] Later', ['1 uncited Done', '2 uncited Later']],
    ['- Done [call:a1]', ['1 cited Done [call:a1]']],
    ['- Done [call:zz]', ['1 miscited Done [call:zz]']],
    ['- Done [call:a1] [call:zz]', ['1 miscited Done [call:a1] [call:zz]']],
    [
      '- Done [call:a1, a2]\n- Done [Call: a1; call:a2]',
      ['1 cited Done [call:a1, a2]', '2 cited Done [Call: a1; call:a2]'],
    ],
    ['- Done [call:A1]', ['1 miscited Done [call:A1]']],
    ['- Done [call:] [call: ]', ['1 uncited Done [call:] [call: ]']],
    ['- Outer\n  - Inner [call:a1]', ['1 uncited Outer', '2 cited Inner [call:a1]']],
    ['- Done, and\n  shown [call:a1]\n\nApart', ['1 cited Done, and\n  shown [call:a1]']],
    ['- None\n- none.\n- N/A', []],
    ['- Nonesuch', ['1 uncited Nonesuch']],
    ['Just words. More words.', []],
    ['Words. It works [call:a1]. More.', ['1 cited It works [call:a1].']],
    ['It works. [call:a1] More.', ['1 cited It works. [call:a1]']],
    ['It works! [call:a1] [call:a2]\nMore.', ['1 cited It works! [call:a1] [call:a2]']],
    [
      'First\nline. It\nworks [call:a1].\nIt is fast [call:zz]!',
      ['2 cited It\nworks [call:a1].', '4 miscited It is fast [call:zz]!'],
    ],
    ['# Goal\nIt works [call:a1]', ['2 cited It works [call:a1]']],
    ['- Done\n# Goal\nIt works [call:a1]', ['1 uncited Done', '3 cited It works [call:a1]']],
    ['**Goal:** it works [call:a1]', ['1 cited it works [call:a1]']],
    ['Goal\n---\nIt works [call:a1]', ['3 cited It works [call:a1]']],
    ['- Done\n---\n- Done', ['1 uncited Done', '3 uncited Done']],
    ['```diff\n- old [call:a1]\n```\n- Done', ['4 uncited Done']],
    ['```\n- Hidden?', ['2 uncited Hidden?']],
    ['```\n- Code\n```\n```\n- Hidden?', ['5 uncited Hidden?']],
    ['- Done [call:a1]\r\n- Done\r\n', ['1 cited Done [call:a1]', '2 uncited Done']],
  ])('%j are %j', (text, found) => expect(statements(text)).toEqual(found))

  it('name their section and the calls they cite, each once', () => {
    const text = '- a\n## Completed work\n- b [call:a1] [call:zz, a1]\n## Notes\n- c'
    expect(review(text).statements).toStrictEqual([
      { text: 'a', line: 1, callIds: [], standing: 'uncited' },
      {
        text: 'b [call:a1] [call:zz, a1]',
        line: 3,
        section: 'Completed work',
        callIds: ['a1', 'zz'],
        standing: 'miscited',
      },
      { text: 'c', line: 5, callIds: [], standing: 'uncited' },
    ])
  })

  it.each(['Goal', 'Remaining tasks', 'Key decisions', 'Open issues', 'Files changed'])(
    'under "%s" are no claims about work done, and need no citation',
    (section) => {
      expect(statements(`## ${section}\n- a\n- b [call:a1]\n- c [call:zz]`)).toEqual([
        '2 exempt a',
        '3 cited b [call:a1]',
        '4 miscited c [call:zz]',
      ])
    },
  )

  it.each(['Completed work', 'Current state', 'Do not redo', 'Notes'])(
    'under "%s" are unverified without',
    (section) => {
      expect(statements(`## ${section}\n- a`)).toEqual(['2 uncited a'])
    },
  )

  it('are kept in the text, whatever they cite', () => {
    const text = '- a\n- b [call:zz]\n'
    expect(review(text)).toMatchObject({ text, characters: text.length, isCut: false })
  })
})

describe('the cap', () => {
  it('cuts what is longer, and says so at the end', () => {
    expect(review('abcdef', 6)).toMatchObject({ text: 'abcdef', characters: 6, isCut: false })
    expect(review('abcdefg', 6)).toMatchObject({
      text: 'abcdef\n\n[Cut here: the first 6 of 7 characters.]',
      characters: 7,
      isCut: true,
    })
  })

  it('is 100,000 characters unless it is said otherwise', () => {
    expect(review('x'.repeat(100_000)).isCut).toBe(false)
    expect(review('x'.repeat(100_001)).isCut).toBe(true)
  })

  it('never leaves half a character', () => {
    expect(review('ab😀c', 3).text).toBe('ab\n\n[Cut here: the first 2 of 5 characters.]')
    expect(review('ab😀c', 4).text).toMatch(/^ab😀\n/)
  })

  it('reads the statements of what is passed on only', () => {
    expect(review('- a [call:a1]\n- b', 13).statements.map(({ text }) => text)).toEqual(['a [call:a1]'])
  })

  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('cannot be %d', (most) => {
    expect(() => review('x', most)).toThrow(new TypeError(`maxCharacters must be a whole number above 0, got ${most}`))
  })
})

describe('any text', () => {
  const piece = fc.constantFrom(
    '- ',
    '# ',
    '**',
    '```',
    '\n',
    '\r\n',
    '. ',
    '[call:',
    ']',
    'a1',
    ',',
    'Goal',
    ':',
    '---',
  )
  const text = fc.array(fc.oneof(piece, fc.string({ unit: 'binary' }))).map((pieces) => pieces.join(''))

  it('is reviewed without failing, and every statement stands on the line it names', () => {
    fc.assert(
      fc.property(text, (written) => {
        const { statements: found, sections, missingSections } = review(written)
        const lines = written.split(/\r?\n/)
        for (const statement of found) expect(lines[statement.line - 1]).toContain(statement.text.split('\n')[0])
        expect(new Set([...sections, ...missingSections]).size).toBe(8)
      }),
    )
  })

  it.each(['[call:', '*', '# ', '- ', ' ', '. ', '. [call:a] ', '.[call:]', '```\n', '[call:a1', '**Goal', '\t\n'])(
    'of %j over and over takes little processor time',
    (pieces) => {
      const before = process.cpuUsage()
      review(pieces.repeat(100_000 / pieces.length))
      // Not the time on the clock: a busy machine makes that as long as it likes.
      expect(process.cpuUsage(before).user / 1_000).toBeLessThan(2_000)
    },
  )
})
