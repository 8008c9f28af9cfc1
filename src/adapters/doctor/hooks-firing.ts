import { join } from 'node:path'
import { counted } from '../../domain/kernel/counted.ts'
import { isRecord } from '../../domain/kernel/record.ts'
import type { SettingsPlace, TerminalAgent } from '../../ports/agent/vendor.ts'
import type { Finding } from '../../ports/system/health-check.ts'
import { quoted } from '../../processes/quoted.ts'
import { filesIn, lengthText } from './folder-files.ts'
import { hasHooks } from './hooks-installed.ts'
import { jsonIn, readFileEnd, readSmallFile } from './small-file.ts'

/** Of so many cards, the newest are read. */
const CARDS_READ = 20

const DAY_MS = 86_400_000

/** Whether hooks were called lately: by the cards of sessions, and by what the hook client wrote down. */
export const hooksFiring = async (
  folder: string,
  place: SettingsPlace,
  agents: readonly TerminalAgent[],
  now = Date.now(),
): Promise<readonly Finding[]> => {
  const newest = newestEvent(folder)
  const isInstalled = await hasHooks(place, agents)
  const findings: Finding[] = []
  if (newest !== undefined)
    findings.push({ result: 'ok', text: `the newest event came ${lengthText(now - newest)} ago` })
  else if (isInstalled)
    findings.push({
      result: 'warning',
      text: 'they are installed, and no event has come yet',
      repair:
        'Start a session. If that changes nothing, run "baton hook session-start < /dev/null" and look at its log.',
    })
  return [...findings, ...complaints(folder, now)]
}

/** When the newest card was written, by its own words. */
const newestEvent = (folder: string): number | undefined => {
  const cards = filesIn(join(folder, 'sessions'), (name) => name.endsWith('.json'))
  const times = cards
    .toSorted((a, b) => b.changedAt - a.changedAt)
    .slice(0, CARDS_READ)
    .flatMap(({ path }) => {
      const found = readSmallFile(path)
      const json = found.state === 'read' ? jsonIn(found.text) : undefined
      const at = isRecord(json) && typeof json.updatedAt === 'string' ? Date.parse(json.updatedAt) : Number.NaN
      return Number.isNaN(at) ? [] : [at]
    })
  return times.length === 0 ? undefined : Math.max(...times)
}

/** The newest line that the hook client wrote when something went wrong; it says nothing else. */
const complaints = (folder: string, now: number): readonly Finding[] => {
  const path = join(folder, 'hook.log')
  const found = readFileEnd(path)
  if (found.state !== 'read' || now - found.changedAt.getTime() > DAY_MS) return []
  const lines = found.text.split('\n').filter((line) => line.trim() !== '')
  const last = lines.at(-1)
  if (last === undefined) return []
  const text = `hooks had trouble in the last day; the newest of ${counted(lines.length, 'line')}: ${last.slice(0, 300)}`
  return [{ result: 'warning', text, repair: `Read ${quoted(path)}.` }]
}
