import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type ChaosOptions, helpFor, readOptions } from '../test/chaos/options.ts'
import { type Row, tableOf, verdictOf } from '../test/chaos/row.ts'
import { PHASES, runChaos } from '../test/chaos/run-chaos.ts'
import { CLONE, enterCleanRoom } from '../test/support/clean-room.ts'

/** So many problems of a phase are printed; the report has all of them. */
const MOST = 30
const REPORT = join(CLONE, 'reports/chaos.txt')

const options = (): ChaosOptions | undefined => {
  try {
    return readOptions(process.argv.slice(2), PHASES)
  } catch (problem) {
    console.error(`chaos: ${problem instanceof Error ? problem.message : String(problem)}. Try --help.`)
    process.exit(2)
  }
}

/** What was wrong, phase by phase. */
const problemsOf = (rows: readonly Row[], most: number): string =>
  rows
    .flatMap(({ phase, problems }) => [
      ...problems.slice(0, most).map((problem) => `${phase}: ${problem}`),
      ...(problems.length > most ? [`${phase}: … and ${problems.length - most} more, in ${REPORT}`] : []),
    ])
    .join('\n')

/** Lets everything go wrong at once, and says whether the store held: `npm run chaos`. */
const main = async (asked: ChaosOptions): Promise<number> => {
  enterCleanRoom()
  // The servers of a test run are not ours to crash.
  for (const name of ['TEST_DATABASE_URL', 'TEST_POOLER_URL']) delete process.env[name]
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
  const title = `chaos: seed ${asked.seed}, ${asked.minutes} minutes, ${asked.only.join(', ')}`
  console.log(title)
  const rows = await runChaos(asked, stop.signal)
  const table = tableOf(rows)
  const notes = rows.flatMap(({ phase, notes = [] }) => notes.map((note) => `${phase}: ${note}`)).join('\n')
  mkdirSync(dirname(REPORT), { recursive: true })
  writeFileSync(REPORT, `${title}\n\n${table}\n\n${problemsOf(rows, Number.POSITIVE_INFINITY)}\n\n${notes}\n`)
  console.log(`${problemsOf(rows, MOST)}\n\n${title}\n\n${table}\n`)
  const { line, exit } = verdictOf(rows, stop.signal.aborted)
  console.log(line)
  return exit
}

const asked = options()
if (asked === undefined) console.log(helpFor(PHASES))
else process.exitCode = await main(asked)
