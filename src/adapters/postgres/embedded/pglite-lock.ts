import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { defined } from '../../../domain/kernel/defined.ts'
import { StoreFailure } from '../../../ports/store/store-failure.ts'
import { linkUnlessTaken, writeDraft } from '../../files/whole-file.ts'
import type { Door } from './door/door.ts'
import { DOOR, removeDoor } from './door/door-place.ts'
import { isCopiedLock, type Liveness, type LockHolder, livenessOf, parseHolder, thisProcess } from './pglite-holder.ts'
import { PULSE, type Pulse } from './pglite-pulse.ts'

/** A lock this process holds. */
export interface PgliteLock {
  /** Gives it up, also in the folder that the store was moved to, if that is known. More than once is fine. */
  release(movedTo?: string): void
}

/** Each try that fails means that somebody else got on; so many in a row mean that something else is wrong. */
const MAX_TRIES = 100

/** A draft this old belongs to a process that was killed while it took the lock. */
const ABANDONED_MS = 60_000

/** The facts that decide whether a lock may be taken. */
export interface Taking {
  readonly token: string
  /** The pulse of this process, which stops with the lock. */
  readonly pulse?: Pulse
  /** Where this process will let others in, until the lock is gone. */
  readonly door?: Door
  /** The state of holders that cannot be seen from here, by token. A holder found dead stays dead. */
  readonly felt?: ReadonlyMap<string, Liveness>
}

/**
 * Takes the lock of an embedded store, or says at once who has it.
 *
 * A lock is only ever made by `link`, which fails when the name is taken, from a draft that is written already:
 * nobody reads half a lock. A dead holder's lock is not deleted, because two who saw it dead would delete twice, the
 * second time the first one's new lock. It is *succeeded*: `lock.after-<its token>` can be made once only. The
 * process that made it, and then still finds the dead one's lock in place, is the holder and moves its own lock
 * there.
 *
 * @throws StoreFailure `store.locked`
 */
export const takeLock = (folder: string, taking: Taking = { token: randomUUID() }): PgliteLock => {
  const path = join(folder, 'lock')
  const { token, pulse, door } = taking
  const holder = thisProcess(folder, token, defined({ pulse: pulse?.name, door: door?.address }))
  const draft = `${path}.new-${holder.token}`
  try {
    // A lock that a power cut left empty would have to be deleted by hand.
    writeDraft(draft, `${JSON.stringify(holder, undefined, 2)}\n`, { isDurable: true })
    for (let tries = 0; tries < MAX_TRIES; tries += 1)
      if (tryToTake(path, draft, { holder, ...taking })) return held(path, holder, taking)
  } finally {
    rmSync(draft, { force: true })
  }
  throw new StoreFailure('store.locked', `${path} changes hands all the time. Try again.`)
}

/** Whether it is ours now; if not, somebody else was quicker somewhere and it is worth another look. */
const tryToTake = (
  path: string,
  draft: string,
  { holder, felt }: Taking & { readonly holder: LockHolder },
): boolean => {
  if (isLinked(draft, path)) return true
  const last = lastHolder(path)
  if (last === undefined) return false
  refuseUnlessDead(last, path, felt?.get(last.token))
  const claim = claimOn(path, last)
  if (!isLinked(draft, claim)) return false
  // A claim can also be made after the real successor has moved in and tidied up. Then the lock is no longer the dead
  // one's: it is replaced before claims are removed.
  if (lastHolder(path)?.token !== holder.token) {
    rmSync(claim, { force: true })
    return false
  }
  renameSync(draft, path)
  if (last.pulse !== undefined) rmSync(join(dirname(path), last.pulse), { force: true })
  if (last.door !== undefined) removeDoor(dirname(path), last.token)
  return true
}

const claimOn = (path: string, { token }: LockHolder): string => `${path}.after-${token}`

/**
 * The holder: the lock's own, or the last in the line of those who succeeded it and were killed before moving in.
 * Nobody when there is no lock, or when it changed hands meanwhile: the line may then be made of claims that are void.
 */
const lastHolder = (path: string): LockHolder | undefined => {
  const line = lineOf(path)
  return line[0] !== undefined && line[0].token === readHolder(path)?.token ? line.at(-1) : undefined
}

/** The lock's own holder, and those who succeeded it without moving in. */
export const lineOf = (path: string): readonly LockHolder[] => {
  const line: LockHolder[] = []
  for (let next = readHolder(path); next !== undefined; next = readHolder(claimOn(path, next))) line.push(next)
  return line
}

const readHolder = (path: string): LockHolder | undefined => {
  try {
    return parseHolder(readFileSync(path, 'utf8'))
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined
    throw new StoreFailure(
      'store.locked',
      `${path} should say which process has the embedded store, but it cannot be read as such a lock. ` +
        'If no process has the store, delete that file.',
      { cause: error },
    )
  }
}

const refuseUnlessDead = (holder: LockHolder, path: string, felt: Liveness | undefined): void => {
  const liveness = felt ?? livenessOf(holder, dirname(path))
  if (liveness === 'dead') return
  const { pid, host, startedAt } = holder
  const isOurs = liveness === 'alive' && felt === undefined && pid === process.pid
  const who = isOurs ? `this process (pid ${pid} on ${host})` : `process ${pid} on ${host}`
  throw new StoreFailure(
    'store.locked',
    `The embedded store in ${dirname(path)} is held by ${who} since ${startedAt}. ${advice(holder, path, { liveness, isOurs, felt })}`,
  )
}

/** The facts about a holder that decide what to do. */
interface Seen {
  readonly liveness: Liveness
  readonly isOurs: boolean
  readonly felt: Liveness | undefined
}

const advice = (holder: LockHolder, path: string, { liveness, isOurs, felt }: Seen): string => {
  if (liveness !== 'alive')
    return (
      'That is another machine, or a container that nobody here can look into, so its lock is left alone. When you ' +
      `know that it has ended, delete ${path}.`
    )
  // Another container may see the same folder under other numbers.
  if (felt === undefined && isCopiedLock(holder, dirname(path))) return copied(path)
  if (isOurs) return 'Use the store that is already open, or close it first.'
  return `${notSharing(holder, felt)} Wait until it has ended, or use a Postgres server, which any number of processes can share.`
}

/** A copy of a store that was open is no backup, so nobody opens it unasked. */
const copied = (path: string): string =>
  'But its lock was made in another folder, so this one is a copy that was made while the store was open. Its files may ' +
  'not be of one moment: close the store there, and copy it then. If you want to use this copy nevertheless, delete ' +
  `${path}.`

/** Why a holder that lives does not let this process in. */
const notSharing = ({ door }: LockHolder, felt: Liveness | undefined): string => {
  if (felt !== undefined) return 'It is in another container or sandbox, and lets in only those beside it.'
  return door === undefined
    ? 'It does not share the folder: it was told not to, it is of an earlier version, or no socket can be made here.'
    : 'It shares the folder, but this process was told not to, or cannot use the socket that the lock names.'
}

/** Gives a file a second name unless the name is taken. */
const isLinked = (from: string, to: string): boolean => {
  try {
    return linkUnlessTaken(from, to)
  } catch (error) {
    throw new StoreFailure(
      'store.failed',
      `The embedded store cannot make its lock ${to}. Keep the store on a local disk whose file system has hard links.`,
      { cause: error },
    )
  }
}

/** Removes what killed processes left. No claim matters but one on the lock that is there, and that one is ours. */
const tidy = (path: string, { pulse, door }: Taking): void => {
  const [folder, name] = [dirname(path), basename(path)]
  const isOurs = (found: string): boolean => found === pulse?.name || found === door?.address.split('/')[0]
  for (const found of readdirSync(folder)) {
    const isPassing = [`${name}.new-`, PULSE, DOOR].some((start) => found.startsWith(start)) && !isOurs(found)
    const isAbandoned = isPassing && ageOf(join(folder, found)) > ABANDONED_MS
    if (isAbandoned || found.startsWith(`${name}.after-`))
      rmSync(join(folder, found), { recursive: found.startsWith(DOOR), force: true })
  }
}

const ageOf = (path: string): number => Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())

const isCode = (error: unknown, code: string): boolean => (error as NodeJS.ErrnoException).code === code

/** The locks of this process, so that one listener, not one per store, releases all of them when the process ends. */
const heldHere = new Set<PgliteLock>()

/** As far as it goes: what cannot be released now is a dead process's lock in a moment. */
const releaseAll = (): void => {
  for (const lock of heldHere) attempt(() => lock.release())
}

const attempt = (work: () => void): unknown => {
  try {
    work()
    return undefined
  } catch (problem) {
    return problem
  }
}

const held = (path: string, { token }: LockHolder, taking: Taking): PgliteLock => {
  const lock: PgliteLock = {
    release: (movedTo) => {
      if (!heldHere.delete(lock)) return
      if (heldHere.size === 0) process.off('exit', releaseAll)
      try {
        // By its token: another process may have the folder that is there now.
        for (const found of [path, ...(movedTo === undefined ? [] : [`${movedTo}/lock`])])
          if (readHolder(found)?.token === token) rmSync(found, { force: true })
      } finally {
        taking.door?.remove()
        taking.pulse?.stop()
      }
    },
  }
  if (heldHere.size === 0) process.on('exit', releaseAll)
  heldHere.add(lock)
  // Leftovers do no harm, and the next holder tries again.
  attempt(() => tidy(path, taking))
  return lock
}
