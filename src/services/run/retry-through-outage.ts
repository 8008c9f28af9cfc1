import { defined } from '../../domain/kernel/defined.ts'
import { type CommandId, commandId } from '../../domain/kernel/ids.ts'
import { StoreFailure, type StoreFailureCode } from '../../ports/store/store-failure.ts'
import type { IdGenerator } from '../../ports/system/system.ts'
import { pauseFor } from '../commands/pause-for.ts'

/** How long a store may be away before a run gives up; after a longer outage the session is recovered. */
const OUTAGE_MS = 60_000
/** The same while a run ends; after that its lease expires, and the session is recovered. */
export const ENDING_OUTAGE_MS = 10_000
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5_000

/** A store that does not answer. */
export interface Trouble {
  readonly code: StoreFailureCode
  /** How often it was tried by now. */
  readonly tries: number
  /** Whether this was the last try. */
  readonly isGivenUp: boolean
}

/** When to stop trying, and who is called after each failed try. */
export interface Limits {
  readonly signal?: AbortSignal
  readonly outageMs?: number
  readonly onTrouble?: (trouble: Trouble) => void
}

/**
 * Carries a command out though the store may be away for a moment. Each retry has the same command id, so that a
 * command whose reply was lost is not carried out twice.
 */
export const retryThroughOutage = async <T>(
  ids: IdGenerator,
  command: (named: { readonly commandId: CommandId }) => Promise<T>,
  { signal, outageMs = OUTAGE_MS, onTrouble }: Limits = {},
): Promise<T> => {
  const named = { commandId: commandId(ids.next()) }
  const began = performance.now()
  for (let [pauseMs, tries] = [FIRST_PAUSE_MS, 1]; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS), tries += 1) {
    try {
      return await command(named)
    } catch (error) {
      if (!(error instanceof StoreFailure) || !error.retryable) throw error
      const isGivenUp = performance.now() - began + pauseMs > outageMs
      onTrouble?.({ code: error.code, tries, isGivenUp })
      if (isGivenUp) throw error
      await pauseFor(pauseMs, signal)
    }
  }
}

/** As {@link retryThroughOutage}, for one run. With `outageMs` it retries even when the run is stopped. */
export type RetryThroughOutage = <T>(
  command: (named: { readonly commandId: CommandId }) => Promise<T>,
  limits?: Pick<Limits, 'outageMs'>,
) => Promise<T>

/**
 * The retries of one run. After it has given up on the store once, it tries each command only once, until the store
 * answers.
 */
export const retriesOf = (
  ids: IdGenerator,
  { signal, onTrouble }: { readonly signal: AbortSignal; readonly onTrouble: (trouble: Trouble) => void },
): RetryThroughOutage => {
  let isGivenUp = false
  const note = (trouble: Trouble): void => {
    isGivenUp ||= trouble.isGivenUp
    onTrouble(trouble)
  }
  return async (command, { outageMs } = {}) => {
    const limits = defined({
      outageMs: isGivenUp ? 0 : outageMs,
      signal: outageMs === undefined ? signal : undefined,
    })
    const answer = await retryThroughOutage(ids, command, { ...limits, onTrouble: note })
    isGivenUp = false
    return answer
  }
}
