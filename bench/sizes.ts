/** How much is measured: enough to look, or enough to publish. */
export const SIZES = {
  quick: {
    rounds: 3,
    /** How many operations a single worker does in a round; several workers do more together. */
    operations: { postgres: 100, pglite: 30 },
    concurrencies: { postgres: [1, 8, 32], pglite: [1, 8] },
    growth: { conversations: 2, turns: 200 },
    warmUp: { postgres: 20, pglite: 5 },
  },
  full: {
    rounds: 7,
    operations: { postgres: 400, pglite: 120 },
    concurrencies: { postgres: [1, 8, 32], pglite: [1, 8] },
    growth: { conversations: 6, turns: 1_000 },
    /** Handoffs each of 32 conversations makes before anything is measured. */
    warmUp: { postgres: 100, pglite: 20 },
  },
} as const

export type Size = keyof typeof SIZES
