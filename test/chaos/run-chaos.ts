import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundle } from '../support/bundle.ts'
import { MOVE_NAMES, type MoveName } from './crew/moves.ts'
import { runFault, type Setting } from './fault-phase.ts'
import { FAULTS } from './faults/faults.ts'
import { OwnServer } from './faults/own-server.ts'
import { runFuzz } from './fuzz/fuzz-phase.ts'
import type { ChaosOptions } from './options.ts'
import type { Row } from './row.ts'
import { runTamperings } from './tamper/tamper-phase.ts'

/** Phases that end after so many tries, however long they take. */
const COUNTED = ['tamper', 'fuzz']

/** Every phase by name, in the order they are run. */
export const PHASES: readonly string[] = [...FAULTS.map(({ name }) => name), ...COUNTED]

/** Runs the phases that are asked for, one after the other. */
export const runChaos = async (options: ChaosOptions, signal: AbortSignal): Promise<readonly Row[]> => {
  const folder = mkdtempSync(join(tmpdir(), 'batonpass-chaos-logs-'))
  try {
    await using server = await OwnServer.start()
    const program = await bundle(fileURLToPath(new URL('./crew/worker.ts', import.meta.url)), folder)
    const setting: Setting = { server, options, program, folder, signal }
    const rows = [...(await runFaults(setting))]
    if (options.only.includes('tamper')) rows.push(await orBroken('tamper', () => runTamperings(setting)))
    if (options.only.includes('fuzz')) rows.push(await orBroken('fuzz', () => runFuzz(setting)))
    return rows
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  }
}

const runFaults = async (setting: Setting): Promise<readonly Row[]> => {
  const { only, minutes } = setting.options
  // What is counted instead of timed takes about a third of a whole run.
  const time = minutes * (only.some((name) => COUNTED.includes(name)) ? 0.65 : 1)
  const chosen = FAULTS.filter(({ name }) => only.includes(name))
  const weights = chosen.reduce((sum, { weight }) => sum + weight, 0)
  const moves = new Set<MoveName>()
  const rows: Row[] = []
  for (const fault of chosen) {
    if (setting.signal.aborted) break
    const run = async (): Promise<Row> => {
      const phase = await runFault(fault, setting, (time * 60_000 * fault.weight) / weights)
      for (const name of phase.moves.keys()) moves.add(name)
      return phase.row
    }
    rows.push(await orBroken(fault.name, run))
  }
  return chosen.length === 0 ? rows : [...rows, mixRow(moves)]
}

/** A phase that breaks is a row too: the others are still worth their time. */
const orBroken = async (phase: string, run: () => Promise<Row>): Promise<Row> => {
  try {
    return await run()
  } catch (problem) {
    const what = problem instanceof Error ? (problem.stack ?? problem.message) : String(problem)
    return { phase, cells: {}, problems: [`the phase broke: ${what}`] }
  }
}

/** A command that nobody could give proves nothing about itself. */
const mixRow = (moves: ReadonlySet<MoveName>): Row => {
  const missing = MOVE_NAMES.filter((name) => !moves.has(name))
  return {
    phase: 'mix',
    cells: { acknowledged: `${moves.size} of ${MOVE_NAMES.length} kinds` },
    problems: missing.map((name) => `never acknowledged: ${name}`),
  }
}
