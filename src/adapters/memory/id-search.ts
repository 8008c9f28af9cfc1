import { ID_LENGTH } from '../../domain/kernel/id-ending.ts'
import { type IdSearch, NEWEST_IDS } from '../../ports/store/id-search.ts'
import type { Tables } from './tables.ts'

/** Ids by their end. Everything is at hand here, so each id is looked at. */
export const idSearchIn = (tables: Tables): IdSearch => {
  const kinds = {
    conversation: tables.conversations,
    session: tables.sessions,
    handoff: tables.handoffs,
    turn: tables.turns,
  }
  return {
    ending: async (kind, ending, most) => {
      const ids = kinds[kind].ids().toSorted().toReversed()
      const searched = ending.length === ID_LENGTH ? ids : ids.slice(0, NEWEST_IDS)
      return searched.filter((id) => id.endsWith(ending)).slice(0, most)
    },
  }
}
