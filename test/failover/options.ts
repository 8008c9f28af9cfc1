import { parseArgs } from 'node:util'
import type { Replication } from './cluster.ts'

/** The choices of a run. */
export interface FailoverOptions {
  readonly rounds: number
  readonly writers: number
  readonly workers: number
  readonly replication: Replication
  /** How long everybody works before each failover. */
  readonly calmMs: number
  /** How long nobody notices that the primary is gone. */
  readonly gapMs: number
}

const DEFAULTS = { rounds: 10, writers: 8, workers: 4, calm: 4 }

/** The text of `--help`. */
export const HELP = `npm run failover -- [options]

Kills the primary of two Postgres servers again and again while writers and workers use them by one address with both
hosts, promotes the standby, and makes a new standby. Then it proves from outside that everything which was acknowledged is
there, once. It needs initdb, pg_ctl and pg_basebackup, as the package postgresql of Debian has them. Exit code 0: all of it
held. 1: something did not. 2: the options are wrong. 3: there are no such programs, so nothing was tried.

  --rounds <n>    how many failovers; ${DEFAULTS.rounds} unless given
  --writers <n>   how many writers; ${DEFAULTS.writers} unless given
  --workers <n>   how many worker processes; ${DEFAULTS.workers} unless given
  --calm <s>      how many seconds everybody works before each failover; ${DEFAULTS.calm} unless given
  --gap <s>       how many seconds pass between the kill and the promotion; none unless given
  --async         the standby is asynchronous, and its line is cut before the primary is killed: what was acknowledged
                  meanwhile is lost, and it is counted who was told
  --help          this text
`

const number = (name: string, given: string | undefined, otherwise: number): number => {
  const value = given === undefined ? otherwise : Number(given)
  if (!Number.isSafeInteger(value) || value < 1)
    throw new RangeError(`--${name} must be a whole number from 1 up, got "${given}"`)
  return value
}

/** Reads the options of a run; `undefined` when it is asked for help. @throws when they cannot be used */
export const readOptions = (args: readonly string[]): FailoverOptions | undefined => {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean' } as const
  const options = { rounds: text, writers: text, workers: text, calm: text, gap: text, async: flag, help: flag }
  const { values } = parseArgs({ args: [...args], options })
  if (values.help === true) return undefined
  return {
    rounds: number('rounds', values.rounds, DEFAULTS.rounds),
    writers: number('writers', values.writers, DEFAULTS.writers),
    workers: number('workers', values.workers, DEFAULTS.workers),
    calmMs: number('calm', values.calm, DEFAULTS.calm) * 1_000,
    gapMs: values.gap === undefined ? 0 : number('gap', values.gap, 0) * 1_000,
    replication: values.async === true ? 'asynchronous' : 'synchronous',
  }
}
