import { join } from 'node:path'
import type { Finding } from '../../ports/health-check.ts'
import { quoted } from '../../processes/quoted.ts'
import { filesIn, lengthText } from './service-files.ts'

/** An event that waits this long was not taken by a service that runs. */
const LATE_MS = 60_000

/** Whether events of hooks wait for a service, and whether one refused some. */
export const spooledEvents = async (folder: string, now = Date.now()): Promise<readonly Finding[]> => {
  const waiting = filesIn(join(folder, 'spool'), (name) => name.endsWith('.json'))
  const refused = filesIn(join(folder, 'spool', 'rejected'))
  const oldest = Math.max(0, ...waiting.map(({ changedAt }) => now - changedAt))
  const findings: Finding[] = []
  if (oldest > LATE_MS)
    findings.push({
      result: 'warning',
      text: `${waiting.length} of their events wait for a service, the oldest for ${lengthText(oldest)}`,
      repair: `Start one: baton serve --data-dir ${quoted(folder)}`,
    })
  else if (waiting.length > 0) findings.push({ result: 'ok', text: `${waiting.length} events are on their way` })
  if (refused.length > 0) {
    const path = join(folder, 'spool', 'rejected')
    findings.push({
      result: 'warning',
      text: `${refused.length} events could not be taken, and lie in ${path}`,
      repair: `Look at them, then remove them: rm -r ${quoted(path)}`,
    })
  }
  return findings
}
