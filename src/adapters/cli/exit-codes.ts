/** What the command's exit status says. Documented; never renumbered. */
export const EXIT = {
  ok: 0,
  /** Something broke: the store, the machine, or Batonpass itself. */
  failure: 1,
  /** The command line could not be understood. */
  usage: 2,
  /** A rule said no. */
  refused: 3,
} as const
