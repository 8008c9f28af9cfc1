import { cpus, totalmem } from 'node:os'
import type { Engine } from './engines.ts'
import type { Growth } from './growth.ts'
import type { Measured } from './measure.ts'
import { type ReplaySpeed, renderReplaySpeed } from './replay.ts'
import type { RunnerCost } from './runner.ts'

/** One run, as it is kept. */
export interface Report {
  readonly at: string
  readonly machine: Machine
  readonly measured: readonly Measured[]
  readonly growth: readonly Growth[]
  /** Ours with the watch over windows on; in the place of the floor, ours with it off. */
  readonly pressure: readonly Measured[]
  readonly runner: readonly RunnerCost[]
  readonly replay?: ReplaySpeed
}

export interface Machine {
  readonly cores: number
  readonly cpu: string
  readonly memoryGiB: number
  readonly node: string
  readonly postgres: string
  readonly server: string
  readonly settings: Readonly<Record<string, string>>
}

const SETTINGS = ['fsync', 'synchronous_commit', 'full_page_writes', 'shared_buffers', 'max_wal_size'] as const

export const machineOf = async (engine: Engine, server: string): Promise<Machine> => {
  const shown = SETTINGS.map((name) => `current_setting('${name}') as ${name}`).join(', ')
  const [row] = await engine.ask(`select current_setting('server_version') as version, ${shown}`)
  return {
    cores: cpus().length,
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    postgres: String(row?.version),
    server,
    settings: Object.fromEntries(SETTINGS.map((name) => [name, String(row?.[name])])),
  }
}

/** The report as Markdown, as `docs/performance.md` holds it. */
export const render = ({ at, machine, measured, growth, pressure, runner, replay }: Report): string => {
  const { cores, cpu, memoryGiB, node, postgres, settings } = machine
  const set = Object.entries(settings).map(([name, value]) => `${name} ${value}`)
  const about = `${at}: ${cores} cores (${cpu}), ${memoryGiB} GiB, Node ${node}, Postgres ${postgres} (${set.join(', ')})`
  const speed = replay === undefined ? '' : renderReplaySpeed(replay)
  const tables = [operationsTable(measured), growthTable(growth), pressureTable(pressure), runnerTable(runner)]
  return [about, ...tables, speed].filter((part) => part !== '').join('\n\n')
}

const operationsTable = (measured: readonly Measured[]): string =>
  table(
    ['operation', 'engine', 'at once', 'ours /s', 'floor /s', 'ratio', 'lowest–highest', 'spread ours, floor'],
    measured.map(({ operation, engine, concurrency, ours, floor, ratio, lowest, highest, spread }) => [
      operation,
      engine,
      String(concurrency),
      ours.toFixed(0),
      floor.toFixed(0),
      ratio.toFixed(2),
      `${lowest.toFixed(2)}–${highest.toFixed(2)}`,
      `${percent(spread.ours)}, ${percent(spread.floor)}`,
    ]),
  )

const growthTable = (growth: readonly Growth[]): string =>
  table(
    [
      'engine',
      'turns',
      'ms at 10th',
      'ms at last',
      'ratio',
      'rows per turn',
      'disk bytes per turn',
      'WAL bytes per turn',
    ],
    growth.map(({ engine, turns, earlyMs, lateMs, ratio, early, late }) => [
      engine,
      `${early.upToTurn} → ${turns}`,
      earlyMs.toFixed(2),
      lateMs.toFixed(2),
      ratio.toFixed(2),
      `${early.rows} → ${late.rows}`,
      `${early.diskBytes.toFixed(0)} → ${late.diskBytes.toFixed(0)}`,
      `${early.walBytes.toFixed(0)} → ${late.walBytes.toFixed(0)}`,
    ]),
  )

const pressureTable = (pressure: readonly Measured[]): string =>
  table(
    ['operation', 'engine', 'at once', 'watch on /s', 'watch off /s', 'on by off', 'lowest–highest'],
    pressure.map(({ operation, engine, concurrency, ours, floor, ratio, lowest, highest }) => [
      operation,
      engine,
      String(concurrency),
      ours.toFixed(0),
      floor.toFixed(0),
      ratio.toFixed(2),
      `${lowest.toFixed(2)}–${highest.toFixed(2)}`,
    ]),
  )

const runnerTable = (costs: readonly RunnerCost[]): string =>
  table(
    ['store', 'messages', 'bare µs', 'through a run µs', 'lowest–highest', 'recording alone µs', 'runner by recording'],
    costs.map(({ store, messages, bare, run, recording, rounds }) => [
      store,
      String(messages),
      bare.toFixed(2),
      run.toFixed(1),
      `${Math.min(...rounds).toFixed(1)}–${Math.max(...rounds).toFixed(1)}`,
      recording.toFixed(1),
      (run / recording).toFixed(2),
    ]),
  )

const percent = (share: number): string => `${(share * 100).toFixed(0)} %`

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string => {
  if (rows.length === 0) return ''
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)))
  const written = (row: readonly string[]): string =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  return [written(head), `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...rows.map(written)].join('\n')
}
