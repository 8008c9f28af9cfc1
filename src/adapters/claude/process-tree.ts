import { execFile } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'

/** After TERM and before KILL. The command needs a moment: it ends its tools, which run in groups of their own. */
const GRACE_MS = 2_500
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

const isGoneWithin = async (group: number, ms: number): Promise<boolean> => {
  for (const end = performance.now() + ms; performance.now() < end; await pause(LOOK_EVERY_MS)) {
    if (!signalGroup(group, 0)) return true
  }
  return !signalGroup(group, 0)
}

/** Ends a group and what it started: asks first, then insists. Returns at once when nothing of it is left. */
export const endTree = async (group: number): Promise<void> => {
  if (!signalGroup(group, 'SIGTERM') || (await isGoneWithin(group, GRACE_MS))) return
  // Looked for while their parent is there: once it is killed, nothing says whose they were.
  const children = await descendantsOf(group)
  signalGroup(group, 'SIGKILL')
  for (const child of children) if (!signalGroup(child, 'SIGKILL')) signalOne(child)
  await isGoneWithin(group, AFTER_KILL_MS)
}

const signalOne = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // it has ended with the others
  }
}

const run = promisify(execFile)

const descendantsOf = async (root: number): Promise<readonly number[]> => {
  const { stdout } = await run('ps', ['-A', '-o', 'pid=,ppid=']).catch(() => ({ stdout: '' }))
  const pairs = stdout.split('\n').map((line) => line.trim().split(/\s+/).map(Number))
  const found = new Set([root])
  // A child may stand before its parent, so this goes on until nothing new is found.
  for (let before = 0; before !== found.size; ) {
    before = found.size
    for (const [pid, parent] of pairs) if (pid && parent && found.has(parent)) found.add(pid)
  }
  found.delete(root)
  return [...found]
}
