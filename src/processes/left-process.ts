import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import type { ProcessFate, ProcessIdentity } from '../domain/session/process-identity.ts'
import {
  bootId,
  type FoundProcess,
  isTaken,
  pidNamespace,
  readProcess,
  runningProcesses,
  userOf,
  wasStartedWith,
} from './process-table.ts'

/** The variable that marks an agent and what it starts. */
const VARIABLE = 'BATONPASS_LAUNCH'

/** After TERM and before KILL: agents put their things in order, and end tools that run in groups of their own. */
const GRACE_MS = 2_500
/** After KILL nothing can refuse, though a disk may be waited for. */
const AFTER_KILL_MS = 5_000
const LOOK_EVERY_MS = 25

/** A mark for one launch, and the environment that carries it. */
export const newMark = (): { readonly mark: string; readonly environment: Readonly<Record<string, string>> } => {
  const mark = randomUUID()
  return { mark, environment: { [VARIABLE]: mark } }
}

/**
 * The identity of what is launched under a mark from this process, so that it can be ended later.
 *
 * @param pid the leader of its group, once there is one
 * @returns nothing where processes cannot be told apart for certain
 */
export const identityOf = (mark: string, pid?: number): ProcessIdentity | undefined => {
  const [boot, namespace, userId] = [bootId(), pidNamespace(), process.getuid?.()]
  if (boot === undefined || namespace === undefined || userId === undefined) return undefined
  const startTime = pid === undefined ? undefined : readProcess(pid)?.startTime
  const leader = pid !== undefined && startTime !== undefined && { leader: { pid, startTime } }
  return { host: hostname(), bootId: boot, pidNamespace: namespace, userId, mark, ...leader }
}

/** The identity of this process, under a mark of its own. */
export const ownIdentity = (): ProcessIdentity | undefined => identityOf(randomUUID(), process.pid)

/**
 * Whether the leader of a group, or a process that recorded itself, has certainly ended. Never true of what runs on
 * another machine, in another container or under another user, nor where /proc does not tell.
 */
export const hasEnded = ({ bootId: boot, pidNamespace: namespace, userId, leader }: ProcessIdentity): boolean => {
  const here = identityOf('', process.pid)
  // Without itself in it, /proc is not that of this process, or hides what runs.
  if (here?.leader === undefined || leader === undefined) return false
  // Another start of this machine cannot be told from another machine: names of hosts are given twice.
  if (boot !== here.bootId || namespace !== here.pidNamespace || userId !== here.userId) return false
  const found = readProcess(leader.pid)
  if (found === undefined) return !isTaken(leader.pid)
  return found.isZombie || found.startTime !== leader.startTime
}

/** Ends what is left of a launch: its group if its leader is the one that was recorded, and what carries its mark. */
export const endLeftProcess = async (left: ProcessIdentity): Promise<ProcessFate> => {
  const here = identityOf(left.mark)
  if (here === undefined) return 'elsewhere'
  // Whatever ran here before the machine was started anew has ended with it.
  if (left.bootId !== here.bootId) return left.host === here.host ? 'gone' : 'elsewhere'
  if (left.pidNamespace !== here.pidNamespace || left.userId !== here.userId) return 'elsewhere'
  const first = rootsOf(left)
  if (first.length === 0) return 'gone'
  // Looked for while their parents are there: once these are killed, nothing says whose they were.
  const all = new Map(withDescendants(first).map((found) => [found.pid, found]))
  for (const { pid } of first) signal(pid, 'SIGTERM')
  if (await areGone(left, all, GRACE_MS)) return 'ended'
  const until = performance.now() + AFTER_KILL_MS
  do {
    for (const found of withDescendants(rootsOf(left))) all.set(found.pid, found)
    for (const found of all.values()) if (isSame(found)) signal(found.pid, 'SIGKILL')
    if (await areGone(left, all, LOOK_EVERY_MS)) return 'ended'
  } while (performance.now() < until)
  return 'remains'
}

/** The processes that are certainly of the launch: those of its marked leader's group, and those that carry its mark. */
const rootsOf = ({ leader, userId, mark }: ProcessIdentity): readonly FoundProcess[] => {
  const found = leader === undefined ? undefined : readProcess(leader.pid)
  // A row may name any process of this user. Only one that carries the mark itself was launched under it.
  const isMarked = (pid: number): boolean => userOf(pid) === userId && wasStartedWith(pid, `${VARIABLE}=${mark}`)
  const isLeader = found !== undefined && found.startTime === leader?.startTime && isMarked(found.pid)
  return runningProcesses().filter(
    ({ pid, group }) =>
      pid !== process.pid &&
      ((isLeader && group === found.group && group === found.pid) || (isLeader && pid === found.pid) || isMarked(pid)),
  )
}

const withDescendants = (roots: readonly FoundProcess[]): readonly FoundProcess[] => {
  const all = runningProcesses()
  const pids = new Set(roots.map(({ pid }) => pid))
  // A child may stand before its parent, so this is repeated until nothing new is found.
  for (let before = 0; before !== pids.size; ) {
    before = pids.size
    for (const { pid, parent } of all) if (pids.has(parent) && pid !== process.pid) pids.add(pid)
  }
  return all.filter(({ pid }) => pids.has(pid))
}

/** Whether a process is the one that was found before, and has not ended. */
const isSame = ({ pid, startTime }: FoundProcess): boolean => {
  const now = readProcess(pid)
  return now !== undefined && !now.isZombie && now.startTime === startTime
}

const areGone = async (
  left: ProcessIdentity,
  before: ReadonlyMap<number, FoundProcess>,
  withinMs: number,
): Promise<boolean> => {
  const end = performance.now() + withinMs
  for (;;) {
    if (![...before.values()].some(isSame) && rootsOf(left).length === 0) return true
    if (performance.now() >= end) return false
    await pause(LOOK_EVERY_MS)
  }
}

const signal = (pid: number, name: NodeJS.Signals): void => {
  if (!isTaken(pid)) return
  try {
    process.kill(pid, name)
  } catch {
    // it has ended meanwhile
  }
}
