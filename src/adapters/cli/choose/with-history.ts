import { openStore } from '../../../main/open-store.ts'
import { HandoffHistory } from '../../../services/history/handoff-history.ts'
import type { Invocation } from '../tree/command.ts'
import { storeToRead } from './store-options.ts'

/** Opens the history of the store the flags choose, for as long as the work takes. */
export const withHistory = async <T>(
  invocation: Invocation,
  work: (history: HandoffHistory) => Promise<T>,
): Promise<T> => {
  await using store = await openStore(storeToRead(invocation))
  // Awaited here: the store closes as soon as this function returns.
  return await work(new HandoffHistory({ store }))
}
