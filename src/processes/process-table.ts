import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** A process as Linux describes it. */
export interface FoundProcess {
  readonly pid: number
  readonly parent: number
  readonly group: number
  /** When it began, in ticks since the machine's start. */
  readonly startTime: string
  /** It has ended and only waits for its parent to notice. It holds no files. */
  readonly isZombie: boolean
  /** It was stopped, by a signal or a debugger, and does nothing until it is continued. */
  readonly isStopped: boolean
}

/** Whether a pid is in use, as far as can be seen. */
export const isTaken = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // Somebody else's process (EPERM) is a process too.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

/** Reads a process from /proc. Undefined on other systems, and where /proc hides the processes of others. */
export const readProcess = (pid: number): FoundProcess | undefined => {
  // A sandbox may have kept the /proc of its maker, where the same pid is somebody else's.
  if (linkIfThere('/proc/self') !== String(process.pid)) return undefined
  const stat = readIfThere(`/proc/${pid}/stat`)
  if (stat === undefined) return undefined
  // The command name stands in parentheses and may hold anything, so count from the last one.
  const [state = '', ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [parent, group] = [Number(fields[0]), Number(fields[1])]
  const [isZombie, isStopped] = [state === 'Z' || state === 'X', state === 'T' || state === 't']
  return { pid, parent, group, startTime: fields[18] ?? '', isZombie, isStopped }
}

/** Every process that can be seen from here and has not ended. */
export const runningProcesses = (): readonly FoundProcess[] => {
  try {
    return readdirSync('/proc')
      .flatMap((name) => (/^\d+$/.test(name) ? (readProcess(Number(name)) ?? []) : []))
      .filter(({ isZombie }) => !isZombie)
  } catch {
    return []
  }
}

/** The user whose process it is. */
export const userOf = (pid: number): number | undefined => {
  const line = /^Uid:\s+(\d+)/m.exec(readIfThere(`/proc/${pid}/status`) ?? '')
  return line === null ? undefined : Number(line[1])
}

/** Whether a process was started with this variable; false for those that may not be looked into. */
export const wasStartedWith = (pid: number, variable: string): boolean =>
  readIfThere(`/proc/${pid}/environ`)?.split('\0').includes(variable) === true

/** Names the machine's start. */
export const bootId = (): string | undefined => readIfThere('/proc/sys/kernel/random/boot_id')?.trim()

/** Names the namespace in which the pids of this process mean something. */
export const pidNamespace = (): string | undefined => linkIfThere('/proc/self/ns/pid')

const readIfThere = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

const linkIfThere = (path: string): string | undefined => {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}
