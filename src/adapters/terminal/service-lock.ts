import { join } from 'node:path'
import { ownStoreFolder } from '../files/own-files.ts'
import { privateFolder } from './private-files.ts'

/** A lock that is held. */
export interface ServiceLock {
  release(): void
}

/** Another service has the folder. */
export class AlreadyServed extends Error {
  override readonly name = 'AlreadyServed'
}

/**
 * Makes this process the one service of a folder. The lock is that of an embedded store, in a folder of its own, because a
 * service may use a server: it is given up with the process, however that ends, and is never taken from a living one.
 *
 * @throws AlreadyServed when another process has it
 * @throws NotOwn when the folder is another user's, or others may write to it
 */
export const lockService = async (
  folder: string,
  take: (folder: string) => Promise<ServiceLock>,
): Promise<ServiceLock> => {
  const own = join(folder, 'service')
  // The folder itself first: nothing is made in one that is somebody else's.
  ownStoreFolder(folder)
  await privateFolder(own)
  try {
    return await take(own)
  } catch (cause) {
    if ((cause as { readonly code?: unknown }).code !== 'store.locked') throw cause
    throw new AlreadyServed('Another service has this folder.', { cause })
  }
}
