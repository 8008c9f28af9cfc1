import { compareLandings, type LandingFigures } from '../test/runner/landings.ts'

/** Prints how many restarts cut something, with and without a soft landing: `node --import tsx scripts/soft-landing.ts`. */
const RUNS = Number(process.argv[2] ?? 200)

const percent = (part: number, whole: number): string => `${whole === 0 ? 0 : Math.round((100 * part) / whole)} %`

const row = (name: string, { restarts, landed, cutAnswers, cutTools, cutUnits, turns }: LandingFigures): string =>
  [
    name.padEnd(22),
    String(restarts).padStart(9),
    String(landed).padStart(7),
    `${cutAnswers} (${percent(cutAnswers, restarts)})`.padStart(18),
    String(cutTools).padStart(10),
    `${cutUnits} (${percent(cutUnits, restarts)})`.padStart(16),
    String(turns).padStart(7),
  ].join('')

const { without, withLanding } = await compareLandings(RUNS)
console.log(`${RUNS} pieces of work each, the same for both`)
console.log('                       restarts landed  answers cut off tools cut   units half done  turns')
console.log(row('without a landing', without))
console.log(row('with a soft landing', withLanding))
