import { closeSync, openSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { MemoryFileFailure } from '../../ports/terminal/memory-file.ts'
import { isAbandoned, type OwnFile, ownName, readOwnName } from './own-names.ts'

const PATIENCE_MS = 30_000
const LONGEST_PAUSE_MS = 8

/**
 * Does something to the files of a folder while no other process of ours does.
 *
 * Who wants the folder makes an empty file under a name that nobody else has, and then looks for the names of others. It has
 * the folder only when it finds none of a living process. Both of two that come at once have made theirs before they look,
 * so at least one of them sees the other. The one whose name sorts first waits; the others step back. A killed process
 * leaves its name, which any other may delete, even twice: it is never used again.
 *
 * @throws MemoryFileFailure `memory_file.busy`
 */
export const withFolder = async <T>(folder: string, work: () => Promise<T>): Promise<T> => {
  const lock = await takenLock(folder)
  try {
    return await work()
  } finally {
    rmSync(lock, { force: true })
  }
}

const takenLock = async (folder: string): Promise<string> => {
  const deadline = performance.now() + PATIENCE_MS
  for (;;) {
    const taken = await tryToTake(folder, deadline)
    if (taken !== undefined) return taken
    await pause(1 + Math.random() * LONGEST_PAUSE_MS)
  }
}

const tryToTake = async (folder: string, deadline: number): Promise<string | undefined> => {
  const name = ownName('lock')
  const lock = join(folder, name)
  closeSync(openSync(lock, 'wx', 0o600))
  try {
    for (;;) {
      const others = othersIn(folder, name)
      if (others.length === 0) return lock
      if (performance.now() > deadline) throw busy(folder, others)
      if (others.some((other) => other.id < idOf(name))) break
      await pause(1 + Math.random())
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
    // Reading is what was asked for.
  }
}

/** The locks of processes that live. Whatever dead ones left is removed: locks, and files that were never finished. */
const othersIn = (folder: string, name: string): readonly OwnFile[] => {
  const others: OwnFile[] = []
  for (const found of readdirSync(folder)) {
    const file = found === name ? undefined : readOwnName(found)
    if (file === undefined) continue
    if (isAbandoned(folder, file)) rmSync(join(folder, found), { force: true })
    else if (file.kind === 'lock') others.push(file)
  }
  return others
}

const busy = (folder: string, others: readonly OwnFile[]): MemoryFileFailure => {
  const who = others.map(({ pid }) => pid).join(', ')
  const advice = `Try again, or end that process. If there is none, delete ${join(folder, others[0]?.name ?? '')}.`
  return new MemoryFileFailure(
    'memory_file.busy',
    `The files of ${folder} are being changed by process ${who}. ${advice}`,
  )
}
