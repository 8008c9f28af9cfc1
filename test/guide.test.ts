import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { HANDOFF_FLAGS } from '../src/domain/handoff/handoff.ts'
import { SNAPSHOT_TYPES } from '../src/domain/session/context-snapshot.ts'
import { MemoryStore } from '../src/entry/memory.ts'
import * as testing from '../src/entry/testing.ts'
import { examplesInMarkdown } from './support/examples.ts'

const GUIDE = readFileSync('docs/users-guide.md', 'utf8')

/** The words in backticks in the first column of the table that begins with this heading. */
const firstColumn = (text: string, heading: string): readonly string[] => {
  const [, rows = ''] = text.match(new RegExp(`^\\| ${heading} +\\|.*\\n\\|[ -|]+\\n((?:\\|.*\\n?)+)`, 'm')) ?? []
  return rows
    .split('\n')
    .flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([\w.]+)`/g)].map(([, word = '']) => word))
}

/** The codes that a type of the source lists, each on a line of its own. */
const codesIn = (path: string, pattern: RegExp): readonly string[] =>
  [...new Set([...readFileSync(path, 'utf8').matchAll(pattern)].map(([, code = '']) => code))].sort()

describe("the lists of the users' guide", () => {
  it('have every refusal', () => {
    const codes = codesIn('src/domain/refusal.ts', /^ {2}'?((?:\w+\.\w+)|several)'?: (?:\(|\{)/gm)
    expect(codes.length).toBeGreaterThan(25)
    expect(firstColumn(GUIDE, 'refusal').toSorted()).toEqual(codes)
  })

  it('have every failure', () => {
    expect(firstColumn(GUIDE, 'failure').toSorted()).toEqual(
      codesIn('src/ports/store/store-failure.ts', /^ {2}\| '(store\.\w+)'/gm),
    )
  })

  it('have every type of snapshot, every flag and every port', () => {
    expect(firstColumn(GUIDE, 'type').toSorted()).toEqual([...SNAPSHOT_TYPES].sort())
    const [, flags = ''] = GUIDE.match(/^A flag says something about how[^:]*:([^.]*)\./m) ?? []
    expect(flags.match(/\w+/g)).toEqual([...HANDOFF_FLAGS])
    const [, ports = ''] = GUIDE.match(/and ports that answer questions:([^.]*)\./) ?? []
    const { unitOfWork: _, ...kept } = new MemoryStore({ clock: new testing.FixedClock() })
    expect(
      ports
        .match(/`(\w+)`/g)
        ?.map((name) => name.slice(1, -1))
        .toSorted(),
    ).toEqual(Object.keys(kept).sort())
  })

  it('have everything that tests are given', () => {
    expect(firstColumn(GUIDE, 'part').toSorted()).toEqual(Object.keys(testing).sort())
  })

  it('are seen when a row is missing', () => {
    const without = GUIDE.replace(/^\| `session\.held`.*\n/m, '')
    expect(firstColumn(without, 'refusal')).toHaveLength(firstColumn(GUIDE, 'refusal').length - 1)
  })
})

describe('the first program of the README', () => {
  it('has ten lines or so, and can be pasted into a file of JavaScript', () => {
    const [first] = examplesInMarkdown('README.md', readFileSync('README.md', 'utf8'))
    const lines = first?.code.trim().split('\n') ?? []
    expect(lines.filter((line) => line !== '').length).toBeLessThanOrEqual(10)
    expect(first?.code).not.toMatch(/\bas const\b|: \w+ =|import type|await using/)
  })
})
