import { join } from 'node:path'
import { counted } from '../../domain/kernel/counted.ts'
import type { Finding } from '../../ports/system/health-check.ts'
import { quoted } from '../../processes/quoted.ts'
import { codeOf, NotOwn, readOwnFile, TooLarge } from '../files/own-files.ts'
import { filesIn, lengthText } from './folder-files.ts'

/** An event that waits this long was not taken by a service that runs. */
const LATE_MS = 60_000

const MOST_NAMED = 5
const LARGEST_BYTES = 16 * 1024 * 1024

/** Why the service leaves a file of the spool where it is. */
const problemWith = (path: string): readonly (readonly [string, string])[] | undefined => {
  try {
    readOwnFile(path, LARGEST_BYTES)
    return undefined
  } catch (error) {
    return error instanceof TooLarge ? undefined : [[path, error instanceof NotOwn ? error.message : codeOf(error)]]
  }
}

/** Whether events of hooks wait for a service, and whether one refused some. */
export const spooledEvents = async (folder: string, now = Date.now()): Promise<readonly Finding[]> => {
  const all = filesIn(join(folder, 'spool'), (name) => name.endsWith('.json'))
  const problems = new Map(all.flatMap(({ path }) => problemWith(path) ?? []))
  const waiting = all.filter(({ path }) => !problems.has(path))
  const refused = filesIn(join(folder, 'spool', 'rejected'))
  const oldest = Math.max(0, ...waiting.map(({ changedAt }) => now - changedAt))
  const findings: Finding[] = []
  if (oldest > LATE_MS)
    findings.push({
      result: 'warning',
      text: `${waiting.length} of their events wait for a service, the oldest for ${lengthText(oldest)}`,
      repair: `Start one: "baton serve --data-dir ${quoted(folder)}"`,
    })
  else if (waiting.length > 0) findings.push({ result: 'ok', text: `${counted(waiting.length, 'event')} on the way` })
  for (const [path, problem] of [...problems].slice(0, MOST_NAMED))
    findings.push({
      result: 'warning',
      text: `${path} is skipped: ${problem}. The other events are taken`,
      repair: `Look at it, then remove it: rm -r ${quoted(path)}`,
    })
  if (problems.size > MOST_NAMED)
    findings.push({
      result: 'warning',
      text: `${problems.size - MOST_NAMED} more files there are skipped`,
      repair: `ls -la ${quoted(join(folder, 'spool'))}`,
    })
  if (refused.length > 0) {
    const path = join(folder, 'spool', 'rejected')
    findings.push({
      result: 'warning',
      text: `${counted(refused.length, 'event')} could not be taken: see ${path}`,
      repair: `Look at them, then remove them: rm -r ${quoted(path)}`,
    })
  }
  return findings
}
