import { parseArgs } from 'node:util'

/** The choices of a run. */
export interface FleetOptions {
  readonly workers: number
  readonly handoffs: number
  /** How many handoffs a worker has at the same time. */
  readonly concurrency: number
  readonly leaseMs: number
  /** When to give up. */
  readonly seconds: number
  readonly seed: number
  /** Whether workers are killed and stopped, and the server is restarted. */
  readonly isDisturbed: boolean
  /** Measures workers that have nothing to do, for so many seconds, instead. */
  readonly idleSeconds?: number
}

const DEFAULTS = { workers: 8, handoffs: 2_000, concurrency: 2, lease: 3_000, seconds: 2_400 }

/** The text of `--help`. */
export const HELP = `npm run fleet -- [options]

Hands work to worker processes on one Postgres server while they are killed and stopped at random and the server is
restarted every few seconds, and then proves from outside that every handoff was carried out once. Exit code 0: all of it
held. 1: something did not. 2: the options are wrong.

  --workers <n>      how many processes; ${DEFAULTS.workers} unless given, or FLEET_WORKERS
  --handoffs <n>     how many handoffs in all; ${DEFAULTS.handoffs} unless given, or FLEET_HANDOFFS
  --concurrency <n>  how many at the same time in each process; ${DEFAULTS.concurrency} unless given
  --lease <ms>       how long a worker may be silent; ${DEFAULTS.lease} unless given
  --seconds <n>      when to give up; ${DEFAULTS.seconds} unless given, or FLEET_SECONDS
  --seed <n>         repeats the choices of an earlier run; who comes first is still up to the machine
  --calm             no faults
  --idle <seconds>   measures what workers cost that have nothing to do, woken and not, instead
  --help             this text
`

const number = (name: string, given: string | undefined, otherwise: number): number => {
  const value = given === undefined ? otherwise : Number(given)
  if (!Number.isSafeInteger(value) || value < 1)
    throw new RangeError(`--${name} must be a whole number from 1 up, got "${given}"`)
  return value
}

/** Reads the options of a run; `undefined` when it is asked for help. @throws when they cannot be used */
export const readOptions = (
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): FleetOptions | undefined => {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean' } as const
  const numbers = {
    workers: text,
    handoffs: text,
    concurrency: text,
    lease: text,
    seconds: text,
    seed: text,
    idle: text,
  }
  const { values } = parseArgs({ args: [...args], options: { ...numbers, calm: flag, help: flag } })
  if (values.help === true) return undefined
  const { FLEET_WORKERS, FLEET_HANDOFFS, FLEET_SECONDS } = environment
  return {
    workers: number('workers', values.workers ?? FLEET_WORKERS, DEFAULTS.workers),
    handoffs: number('handoffs', values.handoffs ?? FLEET_HANDOFFS, DEFAULTS.handoffs),
    concurrency: number('concurrency', values.concurrency, DEFAULTS.concurrency),
    leaseMs: number('lease', values.lease, DEFAULTS.lease),
    seconds: number('seconds', values.seconds ?? FLEET_SECONDS, DEFAULTS.seconds),
    seed: number('seed', values.seed, 1 + Math.floor(Math.random() * 2 ** 31)),
    isDisturbed: values.calm !== true,
    ...(values.idle !== undefined && { idleSeconds: number('idle', values.idle, 60) }),
  }
}
