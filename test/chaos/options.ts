import { parseArgs } from 'node:util'
import type { Plant } from './crew/client.ts'

/** What a run is asked to do. */
export interface ChaosOptions {
  readonly minutes: number
  readonly seed: number
  /** The phases to run, in their own order; all unless named. */
  readonly only: readonly string[]
  readonly workers: number
  readonly tamperings: number
  readonly wrongRequests: number
  /** Plants a fault in the harness itself, to see the run turn red. */
  readonly plant?: Plant
}

/** How long a whole run takes, and how much it tries. A shorter one tries as much less. */
const FULL = { minutes: 20, tamperings: 1_000, wrongRequests: 20_000 }
const PLANTS: readonly Plant[] = ['forged_ack', 'unlogged', 'idle', 'tampered', 'blind', 'lenient']

/** What `--help` says. */
export const helpFor = (phases: readonly string[]): string => `npm run chaos -- [options]

Lets twenty processes give every command at random while servers crash, lines die and disks fill up, and then proves
that nothing acknowledged was lost, nothing happened twice, and everything verifies. Then it tampers with the record
and sends wrong requests to every store. Exit code 0: all of it held. 1: something did not. 2: the options are wrong.
3: what ran held, and some phases could not be run here.

  --minutes <n>     about how long; ${FULL.minutes} unless given. What is counted (tamperings, requests) shrinks with it
  --only <phases>   only these, separated by commas: ${phases.join(', ')}
  --seed <n>        repeats the choices of an earlier run; who comes first is still up to the machine
  --workers <n>     how many processes; 20 unless given
  --tamperings <n>  how many; ${FULL.tamperings} in a whole run
  --requests <n>    how many wrong requests; ${FULL.wrongRequests} in a whole run
  --plant <fault>   puts a fault into the harness, which must turn the run red: ${PLANTS.join(', ')}
  --help            this text

docs/chaos.md says how to read the table.
`

const number = (name: string, given: string | undefined, otherwise: number): number => {
  const value = given === undefined ? otherwise : Number(given)
  if (!Number.isFinite(value) || value <= 0) throw new RangeError(`--${name} must be a number above 0, got "${given}"`)
  return value
}

const listed = (given: string | undefined, phases: readonly string[]): readonly string[] => {
  const names = (given ?? phases.join(',')).split(',').map((name) => name.trim())
  const unknown = names.find((name) => !phases.includes(name))
  if (unknown === undefined) return names
  throw new RangeError(`--only knows no phase "${unknown}"; there are ${phases.join(', ')}`)
}

const planted = (given: string | undefined): Plant | undefined => {
  const plant = PLANTS.find((name) => name === given)
  if (given === undefined || plant !== undefined) return plant
  throw new RangeError(`--plant knows no fault "${given}"; there are ${PLANTS.join(', ')}`)
}

/** Reads the options of a run; `undefined` when it is asked for help. @throws when they cannot be used */
export const readOptions = (args: readonly string[], phases: readonly string[]): ChaosOptions | undefined => {
  const text = { type: 'string' } as const
  const options = {
    minutes: text,
    only: text,
    seed: text,
    workers: text,
    tamperings: text,
    requests: text,
    plant: text,
  }
  const { values } = parseArgs({ args: [...args], options: { ...options, help: { type: 'boolean' } } })
  if (values.help === true) return undefined
  const minutes = number('minutes', values.minutes, FULL.minutes)
  const share = Math.min(1, minutes / FULL.minutes)
  const plant = planted(values.plant)
  return {
    minutes,
    seed: Math.floor(number('seed', values.seed, 1 + Math.floor(Math.random() * 2 ** 31))),
    only: listed(values.only, phases),
    workers: Math.floor(number('workers', values.workers, 20)),
    tamperings: Math.floor(number('tamperings', values.tamperings, Math.ceil(FULL.tamperings * share))),
    wrongRequests: Math.floor(number('requests', values.requests, Math.ceil(FULL.wrongRequests * share))),
    ...(plant !== undefined && { plant }),
  }
}
