const HOUR_MS = 3_600_000

/** How long commands are remembered unless it is said otherwise: a week. */
export const DEFAULT_RETENTION_MS = 7 * 24 * HOUR_MS

/** No command is forgotten sooner, whatever is asked: a caller that lost a reply tries again within it. */
export const LEAST_RETENTION_MS = HOUR_MS

/** Why commands cannot be remembered for so long, if they cannot. */
export const retentionProblem = (milliseconds: number): string | undefined =>
  Number.isSafeInteger(milliseconds) && milliseconds >= LEAST_RETENTION_MS
    ? undefined
    : 'commands are remembered for an hour at least, in whole milliseconds'
