import { describe, expect, it } from 'vitest'
import { TextLines } from '../../src/processes/text-lines.ts'

const linesOf = (longest: number, ...pieces: readonly string[]): readonly string[] => {
  const lines = new TextLines(longest)
  return [...pieces.flatMap((piece) => [...lines.take(piece)]), ...lines.end()]
}

describe('the lines of a stream', () => {
  it.each([
    [['a\nb\nc'], ['a', 'b', 'c']],
    [
      ['a', 'b', '\n', 'c', 'd'],
      ['ab', 'cd'],
    ],
    [['\n\na'], ['', '', 'a']],
    [
      ['a\n', '\n', 'b\n'],
      ['a', '', 'b', ''],
    ],
    [
      ['a', '', 'b\nc\nd', 'e'],
      ['ab', 'c', 'de'],
    ],
  ])('%j are %j', (pieces, lines) => {
    expect(linesOf(100, ...pieces)).toEqual(lines)
  })

  it('that are too long say nothing, not even their end, and the next one does', () => {
    expect(linesOf(3, 'abc\nabcd\nabc')).toEqual(['abc', 'abc'])
    expect(linesOf(3, 'ab', 'cd', 'e\nf')).toEqual(['f'])
    expect(linesOf(3, 'abcd')).toEqual([])
  })
})
