import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { believedWindow } from '../src/adapters/catalogue/model-catalogue.ts'
import { readLines } from '../src/adapters/cli/choose/recordings.ts'
import { DEFAULT_MILESTONES } from '../src/domain/window/milestone.ts'
import { windowReaders } from '../src/main/runtimes.ts'
import { replay } from '../src/services/replay/record-replay.ts'
import { writeLongRecording } from '../test/support/long-recording.ts'
import type { Size } from './sizes.ts'
import { median } from './statistics.ts'

const WINDOW_READERS = await windowReaders()

/** How fast a recording is replayed, in megabytes (of a million bytes) a second. */
export interface ReplaySpeed {
  readonly megabytes: number
  readonly turns: number
  readonly perSecond: number
  readonly rounds: readonly number[]
}

const SIZES = { quick: { bytes: 20_000_000, rounds: 3 }, full: { bytes: 100_000_000, rounds: 7 } } as const

/** Replays a generated transcript as `baton replay` does: read, parsed, followed. The first round warms up. */
export const measureReplay = async (size: Size): Promise<ReplaySpeed> => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-bench-'))
  try {
    const file = join(folder, 'long.jsonl')
    const { bytes, turns } = await writeLongRecording(file, SIZES[size].bytes)
    const rounds: number[] = []
    for (let round = 0; round <= SIZES[size].rounds; round += 1) {
      const began = performance.now()
      const options = { readers: WINDOW_READERS, milestones: DEFAULT_MILESTONES, believed: believedWindow }
      const replayed = await replay(readLines(file), options)
      if (replayed.turns !== turns) throw new Error(`${replayed.turns} turns were read of ${turns}`)
      if (round > 0) rounds.push(bytes / 1_000 / (performance.now() - began))
    }
    return { megabytes: Math.round(bytes / 1_000_000), turns, perSecond: median(rounds), rounds }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The speed in one line, for the report. */
export const renderReplaySpeed = ({ megabytes, turns, perSecond, rounds }: ReplaySpeed): string =>
  `replay of ${megabytes} MB (${turns} turns): ${perSecond.toFixed(0)} MB/s, ` +
  `lowest–highest ${Math.min(...rounds).toFixed(0)}–${Math.max(...rounds).toFixed(0)}, Node ${process.version}`
