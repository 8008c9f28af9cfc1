/** How long a runner may be silent before another may take its session over, where nobody chose otherwise. */
export const DEFAULT_LEASE_MS = 30_000

/** How often a runner says that it lives, within the time it may be silent. */
export const BEATS_PER_LEASE = 3
