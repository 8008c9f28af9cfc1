import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { measureIdle } from '../test/fleet/idle.ts'
import { type FleetOptions, HELP, readOptions } from '../test/fleet/options.ts'
import { runFleet } from '../test/fleet/run-fleet.ts'
import { CLONE, enterCleanRoom } from '../test/support/clean-room.ts'

/** So many problems are printed; the report has all of them. */
const MOST = 30
const REPORT = join(CLONE, 'reports/fleet.json')

const options = (): FleetOptions | undefined => {
  try {
    return readOptions(process.argv.slice(2), process.env)
  } catch (problem) {
    console.error(`fleet: ${problem instanceof Error ? problem.message : String(problem)}. Try --help.`)
    process.exit(2)
  }
}

/** Lets a fleet of workers work under faults, and says whether every handoff was carried out once: `npm run fleet`. */
const main = async (asked: FleetOptions): Promise<number> => {
  enterCleanRoom()
  // The servers of a test run are not ours to crash.
  for (const name of ['TEST_DATABASE_URL', 'TEST_POOLER_URL']) delete process.env[name]
  if (asked.idleSeconds !== undefined) {
    console.log(JSON.stringify(await measureIdle(asked, asked.idleSeconds), undefined, 2))
    return 0
  }
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
  const report = await runFleet(asked, stop.signal)
  mkdirSync(dirname(REPORT), { recursive: true })
  writeFileSync(REPORT, `${JSON.stringify(report, undefined, 2)}\n`)
  const { problems } = report
  console.log(JSON.stringify({ ...report, problems: problems.slice(0, MOST) }, undefined, 2))
  if (problems.length > MOST) console.log(`… and ${problems.length - MOST} more, in ${REPORT}`)
  const verdict = problems.length === 0 ? 'Everything held.' : 'Something did not hold: see above.'
  console.log(stop.signal.aborted ? 'Stopped early, so this proves nothing.' : verdict)
  return problems.length === 0 && !stop.signal.aborted ? 0 : 1
}

const asked = options()
if (asked === undefined) console.log(HELP)
else process.exitCode = await main(asked)
