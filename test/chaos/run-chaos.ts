import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundle } from '../support/bundle.ts'
import { MOVE_NAMES, type MoveName } from './crew/moves.ts'
import { runFault, type Setting } from './fault-phase.ts'
import { FAULTS } from './faults/faults.ts'
import { OwnServer } from './faults/own-server.ts'
import type { ChaosOptions } from './options.ts'
import type { Row } from './row.ts'

/** Every phase by name, in the order they are run. */
export const PHASES: readonly string[] = [...FAULTS.map(({ name }) => name)]

/** Runs the phases that are asked for, one after the other. */
export const runChaos = async (options: ChaosOptions): Promise<readonly Row[]> => {
  const folder = mkdtempSync(join(tmpdir(), 'batonpass-chaos-logs-'))
  try {
    await using server = await OwnServer.start()
    const program = await bundle(fileURLToPath(new URL('./crew/worker.ts', import.meta.url)), folder)
    const setting: Setting = { server, options, program, folder }
    return await runFaults(setting)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const runFaults = async (setting: Setting): Promise<readonly Row[]> => {
  const { only, minutes } = setting.options
  const chosen = FAULTS.filter(({ name }) => only.includes(name))
  const weights = chosen.reduce((sum, { weight }) => sum + weight, 0)
  const moves = new Set<MoveName>()
  const rows: Row[] = []
  for (const fault of chosen) {
    const phase = await runFault(fault, setting, (minutes * 60_000 * fault.weight) / weights)
    for (const name of phase.moves.keys()) moves.add(name)
    rows.push(phase.row)
  }
  return chosen.length === 0 ? rows : [...rows, mixRow(moves)]
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
