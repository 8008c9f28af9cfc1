/** How wide claimers spread once they got in each other's way, and how wide at most. */
const FIRST_WIDTH = 32
const WIDEST = 256

/** The share of the width that remains after a claim without a conflict. As a conflict doubles it, about one claim in nine meets one. */
const NARROWED = 7 / 8

/**
 * How many of the oldest handoffs a claimer chooses from.
 *
 * All by itself it takes the oldest. When others are faster, which shows as a conflict, it chooses from more of them, so
 * that claimers seldom try for the same; as conflicts become rare it narrows down to the oldest again.
 */
export class ClaimSpread {
  readonly #widths = new Map<string, number>()

  /** Asked before each try: how many to choose from, after so many conflicts of this claim. */
  among(targetAgent: string, conflicts: number): number {
    const width = this.#widths.get(targetAgent) ?? 1
    const next = conflicts === 0 ? Math.floor(width * NARROWED) : Math.min(WIDEST, Math.max(FIRST_WIDTH, width * 2))
    if (next > 1) this.#widths.set(targetAgent, next)
    else this.#widths.delete(targetAgent)
    return Math.max(1, next)
  }
}
