import type { PostgresOptions } from '../../../src/adapters/postgres/open/open-postgres.ts'
import type { Chance } from '../chance.ts'
import type { Crew } from '../crew/crew.ts'
import type { OwnServer } from './own-server.ts'

/** Where the workers of a phase work, and what is done to them there. */
export interface Ground extends AsyncDisposable {
  /** How the workers reach the store. */
  readonly store: PostgresOptions
  /** How the store is reached without any fault on the way, for the checks. */
  readonly direct: string
  /** Does its worst once, and answers with how often that was. It may wait meanwhile. */
  inject(crew: Crew, chance: Chance): Promise<number>
  /** Puts right what was broken; nothing is injected after it. */
  heal(): Promise<void>
}

/** A fault that cannot be had on this machine, and why. */
export interface NotRun {
  readonly notRun: string
}

/** A kind of fault, and what a phase of it must come to so that it counts. */
export interface Fault {
  readonly name: string
  /** Its share of the time. */
  readonly weight: number
  /**
   * At least so many faults and acknowledged commands in each minute, and so many failures that a client was told of:
   * fewer mean that nothing was tried.
   */
  readonly least: { readonly faults: number; readonly acknowledged: number; readonly failures?: number }
  prepare(server: OwnServer): Promise<Ground | NotRun>
}

/** Short enough that a dead line is noticed within a phase. */
export const TIMEOUTS = { connectTimeoutMs: 2_000, statementTimeoutMs: 3_000, queryTimeoutMs: 4_000, maxConnections: 2 }

/** Waits. */
export const wait = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds))

/** A ground on a database of the server, reached directly. */
export const directGround = async (
  server: OwnServer,
  name: string,
  inject: (url: string, crew: Crew, chance: Chance) => Promise<number>,
): Promise<Ground> => {
  const direct = await server.database(name)
  return {
    store: { connectionString: direct, ...TIMEOUTS },
    direct,
    inject: (crew, chance) => inject(direct, crew, chance),
    heal: async () => {},
    [Symbol.asyncDispose]: async () => {},
  }
}
