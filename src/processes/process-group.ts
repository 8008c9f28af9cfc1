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

const isGoneWithin = async (group: number, ms: number): Promise<boolean> => {
  for (const end = performance.now() + ms; performance.now() < end; await pause(LOOK_EVERY_MS)) {
    if (!signalGroup(group, 0)) return true
  }
  return !signalGroup(group, 0)
}

/** How a group is ended. */
interface Ending {
  /** After TERM and before KILL. */
  readonly graceMs: number
  /** What is done when it did not end by itself; every process of it is killed unless given. */
  readonly insist?: (group: number) => void | Promise<void>
}

const kill = (group: number): void => void signalGroup(group, 'SIGKILL')

/** Ends a whole group: asks first, then insists. Returns at once when nothing of it is left. */
export const endGroup = async (group: number, { graceMs, insist = kill }: Ending): Promise<void> => {
  if (!signalGroup(group, 'SIGTERM') || (await isGoneWithin(group, graceMs))) return
  await insist(group)
  await isGoneWithin(group, AFTER_KILL_MS)
}
