import type { Store } from '../../src/entry/ports.ts'
import { withParts } from './wrap.ts'

/** Lists only active sessions as unfinished, as a list that forgot that paused ones still wait would. */
export const hidingTheHeld = (store: Store): Store =>
  withParts(store, {
    sessions: {
      ...store.sessions,
      listUnfinished: async (page) => {
        const found = await store.sessions.listUnfinished(page)
        return { ...found, items: found.items.filter(({ session }) => session.state === 'active') }
      },
    },
  })

/** Counts the signals of a session itself only, and not those of its predecessors. */
export const countingOwnSignals = (store: Store): Store =>
  withParts(store, {
    sessions: {
      ...store.sessions,
      listUnfinished: async (page) => {
        const found = await store.sessions.listUnfinished(page)
        const items = found.items.map(async (item) => {
          const own = await store.signals.listFor(item.session.id, { limit: 1_000 })
          const count = own.items.filter(({ status }) => status === 'queued').length
          return { ...item, waitingSignals: { ...item.waitingSignals, count } }
        })
        return { ...found, items: await Promise.all(items) }
      },
    },
  })
