import { randomUUID } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { z } from 'zod'

/** What a lock says about the process that holds it. */
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
  /** Where a long-lived holder lets others in. Reserved: nobody writes it yet. */
  door: z.string().optional(),
})

/** The holder of a lock, as its lock file describes it. */
export type Holder = Readonly<z.infer<typeof holderSchema>>

/** What can be said about a holder from here. */
export type Liveness = 'alive' | 'dead' | 'elsewhere'

/** This process, about to take a lock. */
export const thisProcess = (): Holder => ({
  pid: process.pid,
  host: hostname(),
  startedAt: new Date().toISOString(),
  token: randomUUID(),
  processStart: readProcess(process.pid)?.start,
  pidNamespace: pidNamespace(),
})

/** Reads what a lock file says. @throws an error of JSON or zod for anything else */
export const parseHolder = (text: string): Holder => holderSchema.parse(JSON.parse(text))

/** Whether a holder still runs. Only what is certain counts as dead. */
export const livenessOf = ({ pid, host, processStart, pidNamespace: theirs }: Holder): Liveness => {
  const ours = pidNamespace()
  if (host !== hostname() || (theirs !== undefined && ours !== undefined && theirs !== ours)) return 'elsewhere'
  if (!isTaken(pid)) return 'dead'
  const found = readProcess(pid)
  // Without /proc a pid in use is all there is to know, and may be the holder.
  if (found === undefined) return 'alive'
  if (found.isZombie) return 'dead'
  return processStart === undefined || processStart === found.start ? 'alive' : 'dead'
}

const isTaken = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // Somebody else's process (EPERM) is a process too.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

interface FoundProcess {
  readonly start: string
  /** It has ended and only waits for its parent to notice. It holds no files. */
  readonly isZombie: boolean
}

/** What Linux says about a process; nothing elsewhere, or where /proc hides other people's. */
const readProcess = (pid: number): FoundProcess | undefined => {
  const stat = readIfThere(`/proc/${pid}/stat`)
  const boot = readIfThere('/proc/sys/kernel/random/boot_id')
  if (stat === undefined || boot === undefined) return undefined
  // The command name stands in parentheses and may hold anything, so count from the last one.
  const [state = '', ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return { start: `${boot.trim()}/${fields[18]}`, isZombie: state === 'Z' || state === 'X' }
}

const readIfThere = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

const pidNamespace = (): string | undefined => {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return undefined
  }
}
