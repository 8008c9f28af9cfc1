/** How wide claimers spread once they got in each other's way, and how wide at most. */
const FIRST_WIDTH = 32
const WIDEST = 256

/** The share of the width that remains after a claim without a conflict. As a conflict doubles it, about one claim in nine meets one. */
const NARROWED = 7 / 8

/**
 * How many of the oldest handoffs a claimer chooses from.
 *
 * A claimer that is alone takes the oldest. When others are faster, which shows as a conflict, it chooses from more
 * handoffs, so that claimers seldom want the same one; as conflicts become rare it chooses from fewer again.
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
