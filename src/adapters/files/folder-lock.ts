import { closeSync, openSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { isAbandoned, ownName, readOwnName, type TemporaryFile } from './own-names.ts'

/** How long to wait for others, unless the caller says so. */
const PATIENCE_MS = 30_000
const LONGEST_PAUSE_MS = 8

/** Other processes did not let go of a folder. */
export class FolderBusy extends Error {
  override readonly name = 'FolderBusy'
  readonly code = 'EBUSY'
  readonly pids: readonly number[]
  /** The lock of one of them. */
  readonly lock: string

  constructor(folder: string, others: readonly TemporaryFile[]) {
    const pids = others.map(({ pid }) => pid)
    super(`The files of ${folder} are being changed by process ${pids.join(', ')}.`)
    this.pids = pids
    this.lock = join(folder, others[0]?.name ?? '')
  }
}

/**
 * Does something to the files of a folder while no other process of ours does: for moments, not for as long as a process
 * runs. The lock of an embedded store is for that (`postgres/embedded/pglite-lock.ts`). It names its holder to people, lets
 * nobody wait, and a holder on another machine keeps it for ever; here one that cannot be seen loses it after a minute.
 *
 * A process that wants the folder makes an empty file under a name that no other has, and then looks for the names of others.
 * It has the folder only when it finds none of a living process. Both of two that come at once have made theirs before they
 * look, so at least one of them sees the other. The one whose name sorts first waits; the others step back. A killed process
 * leaves its name, which any other may delete, even twice: it is never used again.
 *
 * @throws FolderBusy
 */
export const withFolder = async <T>(
  folder: string,
  work: () => T | Promise<T>,
  patienceMs: number = PATIENCE_MS,
): Promise<T> => {
  const steps = taking(folder, patienceMs)
  let step = steps.next()
  for (; step.done !== true; step = steps.next()) await pause(step.value)
  try {
    return await work()
  } finally {
    rmSync(step.value, { force: true })
  }
}

/** As `withFolder`, for callers that cannot wait otherwise: everything in this process stands still meanwhile. @throws FolderBusy */
export const withFolderSync = <T>(folder: string, work: () => T, patienceMs: number = PATIENCE_MS): T => {
  const steps = taking(folder, patienceMs)
  let step = steps.next()
  for (; step.done !== true; step = steps.next()) sleep(step.value)
  try {
    return work()
  } finally {
    rmSync(step.value, { force: true })
  }
}

const sleep = (ms: number): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

/** Takes the lock, step by step: gives the milliseconds to wait before the next one, and at last the lock. */
function* taking(folder: string, patienceMs: number): Generator<number, string, undefined> {
  const deadline = performance.now() + patienceMs
  for (;;) {
    const taken = yield* tryToTake(folder, deadline)
    if (taken !== undefined) return taken
    yield 1 + Math.random() * LONGEST_PAUSE_MS
  }
}

function* tryToTake(folder: string, deadline: number): Generator<number, string | undefined, undefined> {
  const name = ownName('lock')
  const lock = join(folder, name)
  closeSync(openSync(lock, 'wx', 0o600))
  try {
    for (;;) {
      const others = othersIn(folder, name)
      if (others.length === 0) return lock
      if (performance.now() > deadline) throw new FolderBusy(folder, others)
      if (others.some((other) => other.id < idOf(name))) break
      yield 1 + Math.random()
    }
  } catch (problem) {
    rmSync(lock, { force: true })
    throw problem
  }
  rmSync(lock, { force: true })
  return undefined
}

const idOf = (name: string): string => readOwnName(name)?.id ?? ''

/** Removes what processes that are gone have left in a folder. One that we may not change stays as it is. */
export const removeAbandoned = (folder: string): void => {
  try {
    othersIn(folder, '')
  } catch {
    // The caller wants to read or to write something else there.
  }
}

/** The locks of processes that live. What dead ones left is removed: locks, and files that were never finished. */
const othersIn = (folder: string, name: string): readonly TemporaryFile[] => {
  const others: TemporaryFile[] = []
  for (const found of readdirSync(folder)) {
    const file = found === name ? undefined : readOwnName(found)
    if (file === undefined) continue
    if (isAbandoned(folder, file)) rmSync(join(folder, found), { force: true })
    else if (file.kind === 'lock') others.push(file)
  }
  return others
}
