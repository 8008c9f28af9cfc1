import { setTimeout as pause } from 'node:timers/promises'

/** After TERM and before KILL: agents put their things in order when they are asked to stop. */
const GRACE_MS = 2_000
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

/** Ends a whole group: asks first, then insists. Returns at once when nothing of it is left. */
export const endGroup = async (group: number): Promise<void> => {
  if (!signalGroup(group, 'SIGTERM') || (await isGoneWithin(group, GRACE_MS))) return
  signalGroup(group, 'SIGKILL')
  await isGoneWithin(group, AFTER_KILL_MS)
}
