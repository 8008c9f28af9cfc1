import type { RestartBudget } from '../../domain/budget/restart-budget.ts'
import type { NewHandoffIds } from '../../domain/handoff/initiate-handoff.ts'
import { agentSessionId, handoffId, messageId, snapshotId } from '../../domain/kernel/ids.ts'
import type { Instant } from '../../domain/kernel/instant.ts'
import type { NewSessionIds } from '../../domain/session/start-session.ts'
import type { HolderProof } from '../../domain/session/stored-session.ts'
import type { MonitorSettings, MonitorStart } from '../../domain/window/context-monitor.ts'
import type { WindowSize } from '../../domain/window/context-pressure.ts'
import type { Clock, IdGenerator } from '../../ports/system/system.ts'
import type { ClaimSpread } from './claim-spread.ts'

/** Where a command's time, ids and redaction come from. */
export interface CommandContext {
  /** The store's clock, as well as it is known; claims are decided by it. */
  readonly storeNow: () => Instant | undefined
  /** How many of the oldest handoffs a claimer chooses from. */
  readonly spread: ClaimSpread
  readonly clock: Clock
  readonly ids: IdGenerator
  /** The token of the session's holder after this command: the same one for every try of the command. */
  readonly holder: () => HolderProof
  /** Applied to every text before it is stored. */
  readonly redact?: (text: string) => string
  /** How windows are watched unless a session says otherwise. */
  readonly monitor?: MonitorSettings
  /** How often and how long conversations may be restarted unless they say otherwise. */
  readonly restartBudget?: RestartBudget
  /** The believed window of a model, until its runtime reports one. */
  readonly believedWindow?: (model: string) => WindowSize | undefined
}

/** The part of the context that comes from outside; the runner adds the rest. */
export type Surroundings = Omit<CommandContext, 'storeNow' | 'spread' | 'holder'>

/** Ids for a new session, made once per command however often it is decided. */
export const newSessionIds = ({ ids, holder }: CommandContext): NewSessionIds => ({
  sessionId: agentSessionId(ids.next()),
  holder: holder(),
  snapshotId: snapshotId(ids.next()),
  openingId: messageId(ids.next()),
})

/** Ids for a new handoff. */
export const newHandoffIds = (ids: IdGenerator): NewHandoffIds => ({
  handoffId: handoffId(ids.next()),
  snapshotId: snapshotId(ids.next()),
})

/** How a new session's window is watched, unless its request says otherwise. */
export const watchOf = (model: string | undefined, { monitor, believedWindow }: CommandContext): MonitorStart => {
  const hardLimit = model === undefined ? undefined : believedWindow?.(model)
  return { ...monitor, ...(hardLimit !== undefined && { window: { hardLimit } }) }
}
