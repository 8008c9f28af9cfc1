import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { statusLineReader } from '../../src/entry/claude.ts'
import { DEFAULT_MILESTONES } from '../../src/entry/index.ts'
import { RecordedWindow } from '../../src/services/replay/recorded-window.ts'
import { CLONE } from '../support/clean-room.ts'
import { replayed } from './run-replay.ts'

/** Recordings of real sessions, which are other people's and therefore not in this repository. */
const FOLDER = join(CLONE, '../shared/recordings')
const isHere = existsSync(join(FOLDER, 'ground-truth.json'))

interface Truth {
  readonly apiTurns: number
  readonly maxContextInput: number
  readonly lastContextInput?: number
  readonly toolCalls: number
  readonly subagentTurns?: number
  readonly subagentMessages?: number
  readonly windowAssumed?: number
  readonly windows?: readonly number[]
  readonly firstCrossings?: readonly { readonly threshold: number; readonly turnIndex: number }[]
  readonly compactions: readonly {
    readonly trigger?: string
    readonly preTokens?: number
    readonly contextBeforeInput?: number | null
    readonly contextAfterInput?: number | null
  }[]
}

const truths = (): readonly (readonly [string, Truth])[] => {
  if (!isHere) return []
  const { files } = JSON.parse(readFileSync(join(FOLDER, 'ground-truth.json'), 'utf8')) as { files: object }
  return Object.entries(files) as [string, Truth][]
}

const figuresOf = (truth: Truth) => ({
  turns: truth.apiTurns,
  // Where there was no request, nothing was read, which is not nought.
  peakContext: truth.apiTurns === 0 ? null : truth.maxContextInput,
  ...(truth.lastContextInput !== undefined && { lastContext: truth.apiTurns === 0 ? null : truth.lastContextInput }),
  toolCalls: truth.toolCalls,
  subagentTurns: truth.subagentTurns ?? truth.subagentMessages ?? 0,
  compactions: truth.compactions.map(({ trigger, preTokens, contextBeforeInput, contextAfterInput }) => ({
    trigger: trigger ?? 'unknown',
    preTokens: preTokens ?? null,
    contextBefore: contextBeforeInput ?? null,
    contextAfter: contextAfterInput ?? null,
  })),
  ...(truth.windows !== undefined && { wholeWindow: { tokens: truth.windows[0], source: 'runtime' } }),
})

const absent = isHere ? '' : ` (SKIPPED: there are no recordings in ${FOLDER})`

describe(`recordings of real sessions${absent}`, () => {
  it.skipIf(!isHere)(`are all there${absent}`, () => {
    expect(truths().length).toBeGreaterThanOrEqual(26)
  })

  for (const [name, truth] of truths()) {
    it(`${name} is as its ground truth says`, async () => {
      const [replay] = await replayed(join(FOLDER, name))
      expect(replay).toMatchObject(figuresOf(truth))
      expect(replay?.compactions).toHaveLength(truth.compactions.length)
    })
  }

  for (const [name, { firstCrossings, windowAssumed }] of truths()) {
    if (firstCrossings === undefined || firstCrossings.length === 0 || windowAssumed === undefined) continue
    it(`${name} reaches thresholds where its ground truth says`, async () => {
      const [replay] = await replayed(join(FOLDER, name), '--milestones', '0.5,0.7', '--window', `${windowAssumed}`)
      const reached = replay?.signals.map(({ milestone, turn }) => [milestone === 'warning' ? 0.5 : 0.7, turn - 1])
      // A jump over both is one signal, the higher.
      const last = firstCrossings.filter(({ turnIndex }, at) => firstCrossings[at + 1]?.turnIndex !== turnIndex)
      expect(reached).toEqual(last.map(({ threshold, turnIndex }) => [threshold, turnIndex]))
    })
  }

  it.skipIf(!isHere).each([
    ['derived/sdk-stream-three-compactions.jsonl', 'claude-code/cc-2.1.7-three-auto-compacts.jsonl'],
    ['derived/sdk-stream-1m-manual-compaction.jsonl', 'claude-code/cc-2.1.217-1m-manual-compact.jsonl'],
  ])(`%s, wrapped anew, is as %s is${absent}`, async (derived, original) => {
    const [wrapped, plain] = await replayed(join(FOLDER, derived), join(FOLDER, original))
    if (plain === undefined) throw new Error(`${original} gave nothing`)
    const { turns, peakContext, lastContext, compactions, toolCalls } = plain
    expect(wrapped).toMatchObject({
      format: 'claude-agent-sdk',
      turns,
      peakContext,
      lastContext,
      compactions,
      toolCalls,
    })
  })

  it.skipIf(!isHere)(`of status lines are read, and sums in them are not${absent}`, () => {
    const seen = Object.fromEntries(
      readdirSync(join(FOLDER, 'statusline')).map((name) => {
        const read = new RecordedWindow({ milestones: DEFAULT_MILESTONES })
        const status: unknown = JSON.parse(readFileSync(join(FOLDER, 'statusline', name), 'utf8'))
        read.take(statusLineReader.read(status))
        const { lastContext, wholeWindow } = read.result()
        return [name, [lastContext, read.gauge.reading().state, wholeWindow?.tokens]]
      }),
    )
    expect(seen).toEqual({
      'after-compact-null-usage.json': [undefined, 'unknown', 1_000_000],
      'ccstatusline-payload.example-start.json': [undefined, 'unknown', 200_000],
      'ccstatusline-payload.example.json': [15_500, 'metered', 1_000_000],
      'issue-13783-old-cumulative.json': [undefined, 'unknown', 200_000],
      'issue-76751-real-payload-context_window.json': [160_781, 'metered', 200_000],
    })
  })
})
