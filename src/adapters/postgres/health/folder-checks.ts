import { existsSync, lstatSync, statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describeThrown } from '../../../domain/kernel/describe-thrown.ts'
import type { Finding } from '../../../ports/system/health-check.ts'
import { quoted } from '../../../processes/quoted.ts'
import { isCopiedLock, isOnSameKernel, type Liveness, livenessOf } from '../embedded/pglite-holder.ts'
import { lineOf } from '../embedded/pglite-lock.ts'
import { feelPulse } from '../embedded/pglite-pulse.ts'

/** Whether an embedded store's files are for this user alone. Systems without owners have nothing to look at. */
export const folderRights = async (folder: string): Promise<readonly Finding[]> => {
  const me = process.getuid?.()
  if (me === undefined || !existsSync(folder)) return []
  const outer = statSync(folder)
  if (!outer.isDirectory()) return [{ result: 'problem', text: `${folder} is no folder`, repair: 'Name another one.' }]
  const data = lstatSync(join(folder, 'data'), { throwIfNoEntry: false })
  if (data !== undefined && !data.isDirectory())
    return [
      {
        result: 'problem',
        text: `${join(folder, 'data')} is a link or no folder, and no store is opened through it`,
        repair: 'Name the folder that the store is really in, or move the database there.',
      },
    ]
  const owners = [outer.uid, ...(data === undefined ? [] : [data.uid])]
  const owner = owners.find((uid) => uid !== me)
  if (owner !== undefined)
    return [
      {
        result: 'problem',
        text: `${folder} belongs to another user (uid ${owner}; this one has uid ${me})`,
        repair: `Run as that user, or, if it is yours: chown -R ${me} ${quoted(folder)}`,
      },
    ]
  if (data !== undefined && (data.mode & 0o022) !== 0 && (outer.mode & 0o011) !== 0)
    return [
      {
        result: 'problem',
        text: `other users may write to the database in ${folder} (mode ${octal(data.mode)})`,
        repair: `If you trust what is in it: chmod 700 ${quoted(join(folder, 'data'))}`,
      },
    ]
  if ((outer.mode & 0o077) !== 0)
    return [
      {
        result: 'warning',
        text: `${folder} is open to other users (mode ${octal(outer.mode)})`,
        repair: `chmod 700 ${quoted(folder)}`,
      },
    ]
  return [{ result: 'ok', text: `${folder} is for its owner alone` }]
}

const octal = (mode: number): string => (mode & 0o777).toString(8)

/** Whether there is room for what is to be kept. */
export const diskSpace = async (folder: string): Promise<readonly Finding[]> => {
  if (!existsSync(folder)) return []
  const { bavail, bsize } = statfsSync(folder)
  return [spaceFinding(bavail * bsize)]
}

/** Who has the embedded store open now. */
export const lockState = async (folder: string): Promise<readonly Finding[]> => {
  const path = join(folder, 'lock')
  if (!existsSync(path))
    return existsSync(join(folder, 'data')) ? [{ result: 'ok', text: 'nobody has the store open' }] : []
  try {
    const holder = lineOf(path).at(-1)
    if (holder === undefined) return [{ result: 'ok', text: 'nobody has the store open' }]
    const { pid, host, startedAt } = holder
    const who = `process ${pid} on ${host}, since ${startedAt}`
    const liveness = await felt(folder, holder)
    if (liveness === 'alive' && isCopiedLock(holder, folder)) {
      const text = `a copy, made while the store was open in another folder: the lock is of ${who}, which has that one`
      return [{ result: 'warning', text, repair: `To use the copy nevertheless: rm ${quoted(path)}` }]
    }
    if (liveness === 'alive') return [{ result: 'ok', text: `held by ${who}` }]
    if (liveness === 'dead')
      return [{ result: 'ok', text: `left by ${who}, which has ended; the next opener takes it over` }]
    const repair = `When you know that it has ended: rm ${quoted(path)}`
    return [{ result: 'warning', text: `held by ${who}, which cannot be seen from here`, repair }]
  } catch (error) {
    const text = `${path} does not say which process has the store (${describeThrown(error)})`
    return [{ result: 'problem', text, repair: `If no process has the store: rm ${quoted(path)}` }]
  }
}

const felt = async (folder: string, holder: Parameters<typeof livenessOf>[0]): Promise<Liveness> => {
  const seen = livenessOf(holder, folder)
  if (seen !== 'elsewhere' || holder.pulse === undefined || !isOnSameKernel(holder, folder)) return seen
  const pulse = await feelPulse(folder, holder.pulse)
  return pulse === 'unknown' ? seen : pulse === 'beats' ? 'alive' : 'dead'
}

const MEGABYTE = 2 ** 20
/** Below this the embedded store refuses to open, and below that it soon will. */
const FLOOR = 64 * MEGABYTE
const LITTLE = 512 * MEGABYTE

/** The finding for so many free bytes. */
export const spaceFinding = (free: number): Finding => {
  const text = `${Math.floor(free / MEGABYTE).toLocaleString('en')} MB are free`
  if (free >= LITTLE) return { result: 'ok', text }
  const repair = `Free some space: the embedded store stops at ${FLOOR / MEGABYTE} MB.`
  return { result: free < FLOOR ? 'problem' : 'warning', text: `only ${text}`, repair }
}
