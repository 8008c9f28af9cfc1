import { type ChaosOptions, helpFor, readOptions } from '../test/chaos/options.ts'
import { tableOf } from '../test/chaos/row.ts'
import { PHASES, runChaos } from '../test/chaos/run-chaos.ts'

/** Lets everything go wrong at once, and says whether the store held: `npm run chaos`. */
const options = (): ChaosOptions | undefined => {
  try {
    return readOptions(process.argv.slice(2), PHASES)
  } catch (problem) {
    console.error(`chaos: ${problem instanceof Error ? problem.message : String(problem)}. Try --help.`)
    process.exit(2)
  }
}

/** So many of a kind are printed; the rest are counted. */
const MOST = 30

const asked = options()
if (asked === undefined) {
  console.log(helpFor(PHASES))
  process.exit(0)
}
// The servers of a test run are not ours to crash.
for (const name of ['TEST_DATABASE_URL', 'TEST_POOLER_URL']) delete process.env[name]
console.log(`chaos: seed ${asked.seed}, about ${asked.minutes} minutes, ${asked.only.join(', ')}`)
const rows = await runChaos(asked)
for (const { phase, problems } of rows) {
  for (const problem of problems.slice(0, MOST)) console.log(`${phase}: ${problem}`)
  if (problems.length > MOST) console.log(`${phase}: … and ${problems.length - MOST} more`)
}
console.log(`\nchaos: seed ${asked.seed}\n\n${tableOf(rows)}\n`)
const isHeld = rows.every(({ problems }) => problems.length === 0)
console.log(isHeld ? 'Everything held.' : 'Something did not hold: see above.')
process.exitCode = isHeld ? 0 : 1
