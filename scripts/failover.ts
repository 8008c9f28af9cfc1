import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { findBackupBinaries } from '../test/failover/cluster.ts'
import { type FailoverOptions, HELP, readOptions } from '../test/failover/options.ts'
import { tableOf } from '../test/failover/outcome.ts'
import { runFailover } from '../test/failover/run-failover.ts'
import { CLONE, enterCleanRoom } from '../test/support/clean-room.ts'

/** So many problems are printed; the report has all of them. */
const MOST = 30
const REPORT = join(CLONE, 'reports/failover.json')

const options = (): FailoverOptions | undefined => {
  try {
    return readOptions(process.argv.slice(2))
  } catch (problem) {
    console.error(`failover: ${problem instanceof Error ? problem.message : String(problem)}. Try --help.`)
    process.exit(2)
  }
}

const NO_BINARIES =
  'failover: nothing was tried. It needs initdb, pg_ctl, postgres and pg_basebackup, and found no folder that has them. ' +
  'Install PostgreSQL (on Debian: apt-get install postgresql), or name the folder in TEST_POSTGRES_BIN.'

/** Kills one primary after the other, and says whether anything was lost or done twice: `npm run failover`. */
const main = async (asked: FailoverOptions): Promise<number> => {
  enterCleanRoom()
  for (const name of ['TEST_DATABASE_URL', 'TEST_POOLER_URL']) delete process.env[name]
  const binaries = await findBackupBinaries()
  if (binaries === undefined) {
    console.error(NO_BINARIES)
    return 3
  }
  console.log(`failover: ${asked.rounds} with a standby that is ${asked.replication}; servers from ${binaries}`)
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
  const report = await runFailover(asked, binaries, stop.signal)
  mkdirSync(dirname(REPORT), { recursive: true })
  writeFileSync(REPORT, `${JSON.stringify(report, undefined, 2)}\n`)
  const { rounds, problems, ...figures } = report
  console.log(`\n${tableOf(rounds)}\n\nTimes are seconds from the kill.\n`)
  console.log(JSON.stringify({ ...figures, problems: problems.slice(0, MOST) }, undefined, 2))
  if (problems.length > MOST) console.log(`… and ${problems.length - MOST} more, in ${REPORT}`)
  const verdict = problems.length === 0 ? 'Everything held.' : 'Something did not hold: see above.'
  console.log(stop.signal.aborted ? 'Stopped early, so this proves nothing.' : verdict)
  return problems.length === 0 && !stop.signal.aborted ? 0 : 1
}

const asked = options()
if (asked === undefined) console.log(HELP)
else process.exitCode = await main(asked)
