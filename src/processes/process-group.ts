import { execFile } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'

/** After KILL nothing can refuse; what is still seen then has ended and waits for its parent to notice. */
const AFTER_KILL_MS = 500
const LOOK_EVERY_MS = 25

/** Sends a signal to every process of a group. @returns whether there was one to send it to */
export const signalGroup = (group: number, signal: NodeJS.Signals | 0): boolean => {
  try {
    return process.kill(-group, signal)
  } catch {
    return false // the group is gone, or is no longer ours
  }
}

/**
 * Ends a whole group: TERM, and KILL for what is still there after `graceMs`, with the processes that it started in groups
 * of their own. Returns at once when nothing of it is left.
 */
export const endGroup = async (group: number, graceMs: number): Promise<void> => {
  if (!signalGroup(group, 'SIGTERM') || (await isGoneWithin(group, graceMs))) return
  // Looked for while their parent is there: once it is killed, nothing says whose they were.
  const children = await descendantsOf(group)
  signalGroup(group, 'SIGKILL')
  for (const child of children) if (!signalGroup(child, 'SIGKILL')) kill(child)
  await isGoneWithin(group, AFTER_KILL_MS)
}

const isGoneWithin = async (group: number, ms: number): Promise<boolean> => {
  for (const end = performance.now() + ms; performance.now() < end; await pause(LOOK_EVERY_MS)) {
    if (!signalGroup(group, 0)) return true
  }
  return !signalGroup(group, 0)
}

const kill = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // it has ended with the others
  }
}

/** Asked of `ps` and not of /proc, which only Linux has. */
const descendantsOf = async (root: number): Promise<readonly number[]> => {
  const listed = await new Promise<string>((resolve) => {
    const env = { PATH: process.env.PATH } // it needs nothing else of ours
    execFile('ps', ['-A', '-o', 'pid=,ppid='], { env }, (_, output) => resolve(output))
  })
  const pairs = listed.split('\n').map((line) => line.trim().split(/\s+/).map(Number))
  const found = new Set([root])
  // A child may stand before its parent, so this is repeated until nothing new is found.
  for (let before = 0; before !== found.size; ) {
    before = found.size
    for (const [pid, parent] of pairs) if (pid && parent && found.has(parent)) found.add(pid)
  }
  found.delete(root)
  return [...found]
}
