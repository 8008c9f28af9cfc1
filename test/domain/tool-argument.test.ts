import { describe, expect, it } from 'vitest'
import { argumentIn, keptArgument } from '../../src/domain/turn/tool-argument.ts'

const PATCH = `*** Begin Patch
*** Update File: src/clock.ts
@@
-a
+b
*** Add File: src/new.ts
*** End Patch`

describe('the argument that tells one use of a tool from another', () => {
  it.each([
    ['a command, not its description', { description: 'Runs the tests', command: 'npm test' }, 'npm test'],
    ['the file of an edit', { file_path: 'src/clock.ts', old_string: 'a', new_string: 'b' }, 'src/clock.ts'],
    ['the pattern of a search, not its folder', { path: 'src', pattern: 'TODO' }, 'TODO'],
    ['the folder, when there is nothing else', { path: 'src' }, 'src'],
    ['the line that a shell is given', { command: ['bash', '-lc', 'npm test | tail'] }, 'npm test | tail'],
    ['the line of a shell by its path', { command: ['/bin/sh', '-c', 'ls'] }, 'ls'],
    ['a program and its words', { command: ['git', 'status', '-s'] }, 'git status -s'],
    ['the files of a patch', { input: PATCH }, 'src/clock.ts, src/new.ts'],
    [
      'the files that were changed',
      [
        { path: 'a.ts', kind: 'add' },
        { path: 'b.ts', kind: 'update' },
      ],
      'a.ts, b.ts',
    ],
    ['a query inside an action', { type: 'search', action: { query: 'quokka' } }, 'quokka'],
    ['whatever there is under a name that nobody knows', { count: 3, ticket: 'T-1' }, 'T-1'],
    ['one line, whatever it was', { command: 'a\n\tb\u0000c' }, 'a b c'],
  ])('is %s', (_, input, expected) => {
    expect(argumentIn(input)).toBe(expected)
  })

  it.each([[undefined], [null], [7], [{}], [[]], [{ command: '  ' }], [{ a: { b: { c: { d: 'deep' } } } }]])(
    'is nothing in %j',
    (input) => {
      expect(argumentIn(input)).toBeUndefined()
    },
  )

  it('reads no more than the beginning of an endless one', () => {
    expect(argumentIn({ command: 'x'.repeat(5_000_000) })?.length).toBe(2_000)
  })

  it('is kept short, with no half of a character, and stays as it was kept', () => {
    const kept = keptArgument('🎉'.repeat(500))
    expect(kept.length).toBeLessThanOrEqual(240)
    expect(kept).toMatch(/^(?:🎉)+…$/u)
    expect(keptArgument(kept)).toBe(kept)
  })
})
