import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { isOnSameKernel, type Liveness } from './pglite-holder.ts'
import { lineOf, type PgliteLock, takeLock } from './pglite-lock.ts'
import { beginPulse, feelPulse } from './pglite-pulse.ts'

/**
 * Takes the lock with a proof that this process lives, for those who cannot see it, and looks for the proof of those who
 * have the lock. A lock is taken in one go and a pulse has to be waited for, so it is felt before.
 *
 * @throws StoreFailure `store.locked`
 */
export const takeProvenLock = async (folder: string): Promise<PgliteLock> => {
  const token = randomUUID()
  // Listened to before the lock can be seen.
  const pulse = await beginPulse(folder, token)
  try {
    const known = await livenessByPulse(folder)
    return takeLock(folder, { token, known, ...(pulse && { pulse }) })
  } catch (error) {
    pulse?.stop()
    throw error
  }
}

/** Only of holders in other namespaces: of the others more is known than a pulse can tell. */
const livenessByPulse = async (folder: string): Promise<ReadonlyMap<string, Liveness>> => {
  const known = new Map<string, Liveness>()
  for (const holder of lineOf(join(folder, 'lock'))) {
    if (holder.pulse === undefined || !isOnSameKernel(holder, folder)) continue
    const felt = await feelPulse(folder, holder.pulse)
    if (felt !== 'unknown') known.set(holder.token, felt === 'beats' ? 'alive' : 'dead')
  }
  return known
}
