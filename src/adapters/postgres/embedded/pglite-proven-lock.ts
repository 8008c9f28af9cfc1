import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { defined } from '../../../domain/kernel/defined.ts'
import { type Door, openDoor } from './door/door.ts'
import { isOnSameKernel, type Liveness, type LockHolder, livenessOf } from './pglite-holder.ts'
import { lineOf, type PgliteLock, takeLock } from './pglite-lock.ts'
import { beginPulse, feelPulse } from './pglite-pulse.ts'

/** A lock this process holds, and the door at which it lets others in, if it does. */
export interface SharedLock extends PgliteLock {
  readonly door?: Door
}

/**
 * Takes the lock with a proof that this process lives, for those who cannot see it, and looks for the proof of those who
 * have the lock. A lock is taken in one go and a pulse has to be waited for, so it is felt before.
 *
 * @throws StoreFailure `store.locked`
 */
export const takeProvenLock = async (folder: string, isShared = false): Promise<SharedLock> => {
  const token = randomUUID()
  // Listened to before the lock can be seen.
  const pulse = await beginPulse(folder, token)
  const door = isShared ? await openDoor(folder, token) : undefined
  try {
    const felt = await livenessByPulse(folder)
    const lock = takeLock(folder, defined({ token, felt, pulse, door }))
    return defined({ release: (movedTo?: string) => lock.release(movedTo), door })
  } catch (error) {
    pulse?.stop()
    void door?.close()
    door?.remove()
    throw error
  }
}

/** The last who took the lock, and its state as far as its lock tells; nothing when nobody has it. */
export const lockHolderOf = (
  folder: string,
): { readonly holder: LockHolder; readonly liveness: Liveness } | undefined => {
  const holder = lineOf(join(folder, 'lock')).at(-1)
  return holder && { holder, liveness: livenessOf(holder, folder) }
}

/** Only of holders in other namespaces: of the others more is known than a pulse can tell. */
const livenessByPulse = async (folder: string): Promise<ReadonlyMap<string, Liveness>> => {
  const found = new Map<string, Liveness>()
  for (const holder of lineOf(join(folder, 'lock'))) {
    if (holder.pulse === undefined || !isOnSameKernel(holder, folder)) continue
    const felt = await feelPulse(folder, holder.pulse)
    if (felt !== 'unknown') found.set(holder.token, felt === 'beats' ? 'alive' : 'dead')
  }
  return found
}
