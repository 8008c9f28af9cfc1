import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { replayed } from './run-replay.ts'

/** Recordings of our own making, each with the figures worked out by hand. */
const FOLDER = 'test/fixtures/recordings'
const EXPECTED = JSON.parse(readFileSync(join(FOLDER, 'expected.json'), 'utf8')) as Readonly<Record<string, object>>

const figuresOf = ({ signals, ...rest }: Awaited<ReturnType<typeof replayed>>[number]) => {
  const { turns, peakContext, lastContext, window, compactions, subagentTurns, toolCalls, damagedLines } = rest
  const said = signals.map(({ milestone, turn }) => `${milestone} ${turn}`)
  return { turns, peakContext, lastContext, window, compactions, subagentTurns, toolCalls, signals: said, damagedLines }
}

describe('recordings of our own', () => {
  it.each(Object.entries(EXPECTED))('%s gives the figures worked out by hand', async (name, expected) => {
    const [replay] = await replayed(join(FOLDER, name))
    expect(replay && figuresOf(replay)).toEqual(expected)
  })

  it('are found in their folder, one object per file, subagents of their own included', async () => {
    const all = await replayed(FOLDER)
    expect(all.map(({ file }) => relative(FOLDER, file)).sort()).toEqual(Object.keys(EXPECTED).sort())
    expect(all.map(figuresOf)).toEqual(all.map(({ file }) => EXPECTED[relative(FOLDER, file)]))
  })
})
