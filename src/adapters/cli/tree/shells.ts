/** The shells there is a completion for. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const

/** A shell there is a completion for. */
export type Shell = (typeof SHELLS)[number]
