import { isTaken, readProcess } from '../../processes/process-table.ts'

/** The fate of a process, as far as it can be seen from here. */
export type Fate = 'alive' | 'gone' | 'unknown'

/**
 * Whether the process that began at a moment still has its pid. Ask only about this run of the machine and this namespace of
 * pids: elsewhere a pid means nothing. `unknown` where the pid is in use, and the system does not tell by whom.
 *
 * @param startTime as `readProcess` gives it; absent where it was not known when the process was written down
 */
export const fateOf = (pid: number, startTime: string | undefined): Fate => {
  if (!isTaken(pid)) return 'gone'
  const found = readProcess(pid)
  if (found === undefined) return 'unknown'
  // It holds no files any more, and only waits for its parent.
  if (found.isZombie) return 'gone'
  if (startTime === undefined) return 'unknown'
  // Another process may have got the same pid since.
  return found.startTime === startTime ? 'alive' : 'gone'
}
