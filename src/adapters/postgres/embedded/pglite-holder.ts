import { statfsSync } from 'node:fs'
import { hostname } from 'node:os'
import { z } from 'zod'
import { bootId, pidNamespace, readProcess } from '../../../processes/process-table.ts'
import { fateOf } from '../../files/process-fate.ts'
import { numberAt } from './pglite-identity.ts'

/** The content of a lock: the process that holds it. */
const holderSchema = z.object({
  pid: z.int().positive(),
  host: z.string(),
  startedAt: z.iso.datetime(),
  /** One taking of the lock; no two are alike. */
  token: z.uuid(),
  /** When the process itself began, in the machine's own terms: another one under the same pid differs here. */
  processStart: z.string().optional(),
  /** Pids mean something only inside their namespace; a sandbox or container has one of its own. */
  pidNamespace: z.string().optional(),
  /** The folder the lock was made in, by its device and its number there. A copy of it has another. */
  folder: z.string().optional(),
  /** The kind of file system the folder is on, as Linux numbers them. */
  fileSystem: z.int().optional(),
  /** The socket in the folder that is listened to while the holder lives; see `pglite-pulse.ts`. */
  pulse: z
    .string()
    .regex(/^pulse-[\da-f]+$/)
    .optional(),
  /** The socket on which the holder lets others in; see `door/door.ts`. Absent where it does not. */
  door: z.string().optional(),
})

/** The holder of a lock, as its lock file describes it. */
export type LockHolder = Readonly<z.infer<typeof holderSchema>>

/** The state of a holder, as seen from here. */
export type Liveness = 'alive' | 'dead' | 'elsewhere'

/** The sockets of a holder, as its lock names them. */
export type HolderSockets = Pick<LockHolder, 'pulse' | 'door'>

/** This process, about to take a lock. */
export const thisProcess = (folder: string, token: string, sockets: HolderSockets = {}): LockHolder => ({
  pid: process.pid,
  host: hostname(),
  startedAt: new Date().toISOString(),
  token,
  processStart: startOf(process.pid),
  pidNamespace: pidNamespace(),
  folder: numberAt(folder),
  ...(process.platform === 'linux' && { fileSystem: fileSystemOf(folder) }),
  ...sockets,
})

/** Reads what a lock file says. @throws an error of JSON or zod for anything else */
export const parseHolder = (text: string): LockHolder => holderSchema.parse(JSON.parse(text))

/**
 * Whether a holder still runs, as far as its lock tells. Only what is certain counts as dead.
 *
 * In the same boot, pids can be compared within their namespace; of a process in another one, such as a container, only
 * its pulse tells. A holder from another boot is gone if nobody but this machine can have the folder, or if it ran here.
 */
export const livenessOf = (holder: LockHolder, folder: string): Liveness => {
  const [theirBoot, ourBoot] = [bootOf(holder), bootId()]
  if (theirBoot === undefined || ourBoot === undefined) return isNear(holder) ? byPid(holder) : 'elsewhere'
  if (theirBoot === ourBoot) return isSameNamespace(holder) ? byPid(holder) : 'elsewhere'
  return isOwnDisk(holder, folder) || isNear(holder) ? 'dead' : 'elsewhere'
}

/** Whether a lock was made in another folder, of which this one is a copy: its holder has that one. */
export const isCopiedLock = (holder: LockHolder, folder: string): boolean =>
  holder.folder !== undefined && holder.folder !== numberAt(folder)

/** A holder as words in a sentence. One that is stopped does not answer, and nothing else says why. */
export const describeHolder = ({ pid, host }: LockHolder): string =>
  `process ${pid} on ${host}${readProcess(pid)?.isStopped === true ? `, which is stopped (kill -CONT ${pid} lets it continue)` : ''}`

/** Whether the holder's pulse can be felt from here though its process cannot be seen: another container, one kernel. */
export const isOnSameKernel = (holder: LockHolder, folder: string): boolean => {
  const boot = bootOf(holder)
  return boot !== undefined && boot === bootId() && !isSameNamespace(holder) && isOwnDisk(holder, folder)
}

const bootOf = ({ processStart }: LockHolder): string | undefined => processStart?.split('/')[0]

const isNear = (holder: LockHolder): boolean => holder.host === hostname() && isSameNamespace(holder)

const isSameNamespace = ({ pidNamespace: theirs }: LockHolder): boolean => {
  const ours = pidNamespace()
  return theirs === undefined || ours === undefined || theirs === ours
}

/** File systems that only one machine can use: ext, xfs, btrfs, f2fs, zfs, tmpfs, and the layers of containers. */
const OWN_DISKS = new Set([0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0x2fc12fc1, 0x01021994, 0x794c7630])

/**
 * Whether the holder had, and this process has, the folder on a file system that only one running machine can have. Both
 * must say so: what is a disk here may be shared with a virtual machine, which sees a share.
 */
const isOwnDisk = ({ fileSystem }: LockHolder, folder: string): boolean =>
  fileSystem !== undefined && OWN_DISKS.has(fileSystem) && fileSystem === fileSystemOf(folder)

const fileSystemOf = (folder: string): number | undefined => {
  try {
    return statfsSync(folder).type
  } catch {
    return undefined
  }
}

/** Without /proc a pid in use is all there is to see, and may be the holder. */
const byPid = ({ pid, processStart }: LockHolder): Liveness =>
  fateOf(pid, bootId() === undefined ? undefined : processStart?.split('/')[1]) === 'gone' ? 'dead' : 'alive'

/** When a process began, and in which run of the machine. */
const startOf = (pid: number): string | undefined => {
  const [boot, found] = [bootId(), readProcess(pid)]
  return boot === undefined || found === undefined ? undefined : `${boot}/${found.startTime}`
}
