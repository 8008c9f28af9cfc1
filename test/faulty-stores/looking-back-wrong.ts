import type { Store } from '../../src/entry/ports.ts'
import { withParts } from './wrap.ts'

type LookBacks = Store['lookBacks']
type Wanted = Parameters<LookBacks['read']>[0]

const readingOtherwise = (store: Store, change: (wanted: Wanted) => Wanted): Store => {
  const { lookBacks } = store
  return withParts(store, {
    lookBacks: {
      read: (wanted) => lookBacks.read(change(wanted)),
      listForConversation: (id, page) => lookBacks.listForConversation(id, page),
      countFor: (sessions) => lookBacks.countFor(sessions),
    },
  })
}

/** Searches everything, however long it takes. */
export const searchingWithoutBound = (store: Store): Store =>
  readingOtherwise(store, (wanted) => ({ ...wanted, bounds: { ...wanted.bounds, searched: 1_000_000 } }))

/** Takes `_` for any character and `%` for any number of them, as LIKE does. */
export const searchingByPattern = (store: Store): Store =>
  readingOtherwise(store, (wanted) => ({
    ...wanted,
    needles: wanted.needles.map((spellings) => spellings.flatMap((word) => word.split(/[_%]/).filter(Boolean))),
  }))

/** Begins every search at the newest message again. */
export const searchingFromTheTop = (store: Store): Store =>
  readingOtherwise(store, ({ from, ...wanted }) =>
    wanted.needles.length === 0 && from !== undefined ? { ...wanted, from } : wanted,
  )

/** Searches the window that a session has before it as well. */
export const searchingTheWindow = (store: Store): Store => {
  const { lookBacks, sessions } = store
  return withParts(store, {
    lookBacks: {
      read: async (wanted) => {
        const asking = 'sessionId' in wanted.scope ? await sessions.find(wanted.scope.sessionId) : undefined
        if (asking === undefined) return lookBacks.read(wanted)
        return lookBacks.read({ ...wanted, scope: { conversationId: asking.conversationId } })
      },
      listForConversation: (id, page) => lookBacks.listForConversation(id, page),
      countFor: (of) => lookBacks.countFor(of),
    },
  })
}
