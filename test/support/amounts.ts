/** Whether this is the nightly run, which tries everything that `npm test` tries a part of. */
export const IS_FULL = process.env.FULL === '1'

/** How many runs of a property: this many in `npm test`, and `full` of them in the nightly run. */
export const runsOf = (full: number, most = 100): number => (IS_FULL ? full : Math.min(full, most))
