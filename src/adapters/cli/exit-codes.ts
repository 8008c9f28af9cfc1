import type { RunOutcome } from '../../domain/run/run-summary.ts'

/** What the command's exit status says. Documented; never renumbered. */
export const EXIT = {
  ok: 0,
  /** Something broke: the store, the machine, the agent, or Batonpass itself. */
  failure: 1,
  /** The command line could not be understood. */
  usage: 2,
  /** A rule said no. */
  refused: 3,
  /** The window of a run was full, and there was no restart left. */
  exhausted: 4,
  /** The time of a run was over. */
  timedOut: 5,
  /** Somebody else took a run over. */
  superseded: 6,
  /** There is no store where one was to be read. */
  noStore: 7,
  /** A run was called off, as by Ctrl-C. */
  cancelled: 130,
} as const

/** The status of a run that ended so. */
export const EXIT_OF_RUN = {
  completed: EXIT.ok,
  failed: EXIT.failure,
  exhausted: EXIT.exhausted,
  timed_out: EXIT.timedOut,
  superseded: EXIT.superseded,
  cancelled: EXIT.cancelled,
} as const satisfies Record<RunOutcome, number>
