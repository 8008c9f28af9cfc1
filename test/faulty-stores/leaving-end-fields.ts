import type { AgentSession } from '../../src/entry/index.ts'
import type { Store } from '../../src/entry/ports.ts'
import { withSessions } from './wrap.ts'

/** Reads a session that was paused and is active again back with an end, as a store that never writes NULL would. */
export const leavingEndFields = (store: Store): Store =>
  withSessions(store, (session) =>
    session.state === 'active' && session.version > 3
      ? ({ ...session, endSequence: session.progress.lastSequence } as AgentSession)
      : session,
  )
