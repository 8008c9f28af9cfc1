import type { IdSearch } from '../../ports/id-search.ts'
import type { Tables } from './tables.ts'

/** Ids within a range. Everything is at hand here, so each id is looked at. */
export const idSearchIn = (tables: Tables): IdSearch => {
  const kinds = {
    conversation: tables.conversations,
    session: tables.sessions,
    handoff: tables.handoffs,
    turn: tables.turns,
  }
  return {
    within: async (kind, { from, to }, most) =>
      kinds[kind]
        .ids()
        .filter((id) => from <= id && id <= to)
        .sort()
        .slice(0, most),
  }
}
