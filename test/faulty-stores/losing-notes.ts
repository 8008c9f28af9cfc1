import type { Store } from '../../src/entry/ports.ts'
import { withSessions } from './wrap.ts'

/** Reads sessions back without the caller's own note. */
export const losingNotes = (store: Store): Store =>
  withSessions(store, (session) => {
    const { metadata: _, ...without } = session
    return without
  })
