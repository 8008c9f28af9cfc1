import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { startServer } from '../test/support/postgres-server.ts'
import { type Engine, onPglite, onPostgres } from './engines.ts'
import { type Growth, measureGrowth } from './growth.ts'
import type { Measured } from './measure.ts'
import { measureEngine, OPERATIONS } from './operations.ts'
import { measurePressure } from './pressure.ts'
import { measureReplay, renderReplaySpeed } from './replay.ts'
import { machineOf, type Report, render } from './report.ts'
import { measureRunner, type RunnerCost } from './runner.ts'
import { assertChains, assertSameRows } from './same-rows.ts'
import type { Size } from './sizes.ts'
import { measureTerminals, renderTerminals } from './terminals.ts'

/** A server that keeps what it promised, as one would run in earnest; and no checkpoint in the middle of a round. */
const DURABLE = {
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  max_connections: '300',
  shared_buffers: '256MB',
  max_wal_size: '8GB',
  checkpoint_timeout: '30min',
} as const

const USAGE = `npm run bench -- [--quick] [--json FILE] [--only NAME]
  --quick      a short look instead of figures to publish
  --json FILE  keep every round as JSON
  --only NAME  one of: ${OPERATIONS.join(', ')}, growth, pressure, runner, replay, terminals, postgres, pglite; may be given again`

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'string' },
    only: { type: 'string', multiple: true, default: [] },
    help: { type: 'boolean', default: false },
  },
})

const ENGINES: readonly Engine['name'][] = ['postgres', 'pglite']
const WORK: readonly string[] = [...OPERATIONS, 'growth', 'pressure', 'runner', 'replay', 'terminals']

/** With no name everything is wanted; a name of an engine and a name of an operation narrow each other. */
const wantedOf = (names: readonly string[]) => {
  const within = (all: readonly string[]) => {
    const named = all.filter((name) => names.includes(name))
    return (name: string): boolean => named.length === 0 || named.includes(name)
  }
  const unknown = names.find((name) => !WORK.includes(name) && !ENGINES.some((engine) => engine === name))
  if (unknown !== undefined) throw new Error(`There is nothing called "${unknown}" to measure.\n${USAGE}`)
  return { engine: within(ENGINES), work: within(WORK) }
}

const began = performance.now()
const progress = (line: string): void =>
  console.error(`[${((performance.now() - began) / 1_000).toFixed(0).padStart(4)} s] ${line}`)

const size: Size = values.quick ? 'quick' : 'full'

const run = async (): Promise<Report> => {
  const wants = wantedOf(values.only)
  const server = await startServer(DURABLE)
  progress(`Postgres: ${server.source}`)
  const measured: Measured[] = []
  const growth: Growth[] = []
  const pressure: Measured[] = []
  const runner: RunnerCost[] = []
  const postgres = await onPostgres(server.url)
  const machine = await machineOf(postgres, server.source)
  for (const name of ['fsync', 'synchronous_commit', 'full_page_writes']) {
    if (machine.settings[name] !== 'on')
      progress(`BEWARE: ${name} is not on, so this server promises less than one in earnest`)
  }
  const measure = async (engine: Engine): Promise<void> => {
    if (!wants.engine(engine.name)) return
    await assertSameRows(engine)
    progress(`${engine.name}: ours and the floor leave the same rows`)
    await engine.ask('analyze')
    measured.push(...(await measureEngine(engine, { size, wants: wants.work, progress })))
    if (wants.work('growth')) growth.push(await measureGrowth(engine, size))
    if (wants.work('pressure')) pressure.push(...(await measurePressure(engine, size)))
    await assertChains(engine)
    progress(`${engine.name}: every audit chain holds, on both sides`)
  }
  try {
    await measure(postgres)
    if (wants.work('runner') && wants.engine('postgres')) runner.push(...(await measureRunner(postgres.store, size)))
    if (wants.engine('pglite')) {
      const pglite = await onPglite()
      await measure(pglite).finally(() => pglite.close())
    }
  } finally {
    await postgres.close()
    await server.stop()
  }
  const replay = wants.work('replay') ? await measureReplay(size) : undefined
  return {
    at: new Date().toISOString(),
    machine,
    measured,
    growth,
    pressure,
    runner,
    ...(replay !== undefined && { replay }),
  }
}

/** Replaying needs no server. */
const runReplay = async (): Promise<void> => {
  const replay = await measureReplay(size)
  keep({ at: new Date().toISOString(), replay })
  console.log(renderReplaySpeed(replay))
}

/** The service needs no server either: it is measured on the embedded store, which it has when nobody set anything up. */
const runTerminals = async (): Promise<void> => {
  const terminals = await measureTerminals(size)
  keep({ at: new Date().toISOString(), terminals })
  console.log(renderTerminals(terminals))
}

const keep = (report: object): void => {
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(report, null, 2)}\n`)
}

if (values.help) console.log(USAGE)
else if (values.only.length > 0 && values.only.every((name) => name === 'replay')) await runReplay()
else if (values.only.length > 0 && values.only.every((name) => name === 'terminals')) await runTerminals()
else {
  const report = await run()
  keep(report)
  console.log(render(report))
  if (wantedOf(values.only).work('terminals')) console.log(renderTerminals(await measureTerminals(size)))
}
