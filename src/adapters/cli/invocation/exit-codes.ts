import type { RunOutcome } from '../../../domain/run/run-summary.ts'

/** The exit statuses of the command. Documented; never renumbered. */
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
  /** Another process took a run over. */
  superseded: 6,
  /** There is no store where one was to be read. */
  noStore: 7,
  /** `migrate status` found changes that the schema lacks. */
  pending: 8,
  /** A run has handed its work to an agent that takes no part in it. */
  handedOver: 9,
  /** An agent of a run has answered, and every attempt to change a file was refused. */
  writesRefused: 10,
  /** A run was cancelled, as by Ctrl-C. */
  cancelled: 130,
} as const

/** Each exit status in a few words, for help and for the reference page. */
export const EXIT_MEANINGS = {
  ok: 'done',
  failure: 'something broke: the store, the machine, the agent, or Batonpass itself; or doctor found a problem',
  usage: 'the command line was not understood',
  refused: 'a rule said no, or what was asked for is not there',
  exhausted: 'a run: the window was full, and no restart was left',
  timedOut: 'a run: out of time',
  superseded: 'a run: taken over by another process',
  noStore: 'there is no store to read',
  pending: 'migrate status: the schema lacks changes',
  handedOver: 'a run: the work waits for another agent',
  writesRefused: 'a run: the agent answered, but every attempt to change a file was refused',
  cancelled: 'cancelled, as by Ctrl-C',
} as const satisfies Record<keyof typeof EXIT, string>

/** The status of a run that ended so. */
export const EXIT_OF_RUN = {
  completed: EXIT.ok,
  failed: EXIT.failure,
  exhausted: EXIT.exhausted,
  timed_out: EXIT.timedOut,
  superseded: EXIT.superseded,
  handed_over: EXIT.handedOver,
  writes_refused: EXIT.writesRefused,
  cancelled: EXIT.cancelled,
} as const satisfies Record<RunOutcome, number>
