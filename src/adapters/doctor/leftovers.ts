import { join } from 'node:path'
import type { Finding } from '../../ports/system/health-check.ts'
import { quoted } from '../../processes/quoted.ts'
import { filesIn } from './service-files.ts'
import { isRecord, jsonIn, readSmallFile } from './small-file.ts'

/** Younger than this, somebody may be at work on it. */
const OLD_MS = 10 * 60_000

/** Names that only pass, unless the process that made them was killed. */
const PASSING = /^(data\.new|rights-.*|lock\.new-.*|lock\.after-.*|pulse-.*|\.batonpass-(lock|new)-.*|.*\.tmp(-.*)?)$/

/** Names the files that killed processes have left in a folder. They do no harm, and take room. */
export const leftovers = async (folder: string, now = Date.now()): Promise<readonly Finding[]> => {
  const lock = readSmallFile(join(folder, 'lock'))
  const holder = lock.state === 'read' ? jsonIn(lock.text) : undefined
  const pulse = isRecord(holder) ? holder.pulse : undefined
  const left = filesIn(folder, (name) => PASSING.test(name) && name !== pulse).filter(
    ({ changedAt }) => now - changedAt > OLD_MS,
  )
  if (left.length === 0) return [{ result: 'ok', text: `killed processes have left nothing in ${folder}` }]
  return [
    {
      result: 'warning',
      text: `killed processes have left ${left.map(({ name }) => name).join(', ')} in ${folder}`,
      repair: `While nobody has the store open: rm -r ${left.map(({ path }) => quoted(path)).join(' ')}`,
    },
  ]
}
