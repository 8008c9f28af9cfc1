import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { unifiedDiff } from '../../src/adapters/install/unified-diff.ts'

/** Applies a difference as `patch` does, and fails where it does not fit. */
const patched = (before: string, diff: readonly string[]): string => {
  const old = before.match(/[^\n]*\n|[^\n]+$/g) ?? []
  const lines: string[] = []
  let at = 0
  let rest = diff.slice(2)
  while (rest.length > 0) {
    const [, from = '', count = ''] = /^@@ -(\d+),(\d+) /.exec(rest[0] ?? '') ?? []
    const start = Number(count) === 0 ? Number(from) : Number(from) - 1
    lines.push(...old.slice(at, start))
    at = start
    const next = rest.findIndex((line, index) => index > 0 && line.startsWith('@@ '))
    const body = rest.slice(1, next === -1 ? undefined : next)
    for (const [index, line] of body.entries()) {
      if (line.startsWith('\\')) continue
      const text = line.slice(1) + (body[index + 1]?.startsWith('\\') ? '' : '\n')
      if (line[0] !== '+') expect(old[at++]).toBe(text)
      if (line[0] !== '-') lines.push(text)
    }
    rest = next === -1 ? [] : rest.slice(next)
  }
  return [...lines, ...old.slice(at)].join('')
}

describe('a difference', () => {
  it('makes the new text of the old one', () => {
    const texts = fc
      .array(fc.constantFrom('a\n', 'b\n', 'c\n', '\n', 'd'), { maxLength: 30 })
      .map((lines) => lines.join(''))
    fc.assert(
      fc.property(texts, texts, (before, after) => {
        expect(patched(before, unifiedDiff('f', before, after))).toBe(after)
      }),
    )
  })

  it('looks as people know it', () => {
    expect(unifiedDiff('f', 'a\nb\nc\nd\ne\n', 'a\nb\nc\nd\nx')).toEqual([
      '--- f',
      '+++ f',
      '@@ -2,4 +2,4 @@',
      ' b',
      ' c',
      ' d',
      '-e',
      '+x',
      '\\ No newline at end of file',
    ])
    expect(unifiedDiff('f', undefined, 'a\n')).toEqual(['--- /dev/null', '+++ f', '@@ -0,0 +1,1 @@', '+a'])
    expect(unifiedDiff('f', 'a', 'a')).toEqual([])
  })
})
