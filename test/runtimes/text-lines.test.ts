import { describe, expect, it } from 'vitest'
import { CutLine, type TextLine, TextLines } from '../../src/processes/text-lines.ts'

const linesOf = (longest: number, ...pieces: readonly string[]): readonly TextLine[] => {
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

  const cut = (beginning: string, length: number) => new CutLine(beginning, { length, longest: 3 })

  it('that are too long are cut and say so, and the next one is whole', () => {
    expect(linesOf(3, 'abc\nabcd\nabc')).toEqual(['abc', cut('abc', 4), 'abc'])
    expect(linesOf(3, 'ab', 'cd', 'e\nf')).toEqual([cut('abc', 5), 'f'])
    expect(linesOf(3, 'abcd')).toEqual([cut('abc', 4)])
    expect(linesOf(3, '', 'abcd', '', '\n')).toEqual([cut('abc', 4), ''])
  })

  it('keep a little of a line that never ends, however long it is', () => {
    const lines = new TextLines(5_000)
    for (let piece = 0; piece < 1_000; piece += 1) expect([...lines.take('x'.repeat(100))]).toEqual([])
    const [line] = [...lines.end()]
    expect(line).toEqual(new CutLine('x'.repeat(1_000), { length: 100_000, longest: 5_000 }))
    expect((line as CutLine).words).toMatch(
      /^This line of the agent was cut: it had 100000 characters.* It begins: x{1000}$/,
    )
  })
})
