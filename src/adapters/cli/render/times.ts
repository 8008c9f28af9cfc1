import { type Instant, instant } from '../../../domain/kernel/instant.ts'
import type { Invocation } from '../invocation/invocation.ts'

/** The time zone of the person: `TZ`, or that of the machine. */
export const zoneIn = ({ environment: { TZ: named = '' } }: Pick<Invocation, 'environment'>): string => {
  try {
    return zoneOf(named === '' ? undefined : named)
  } catch {
    // A shell takes more for a zone than can be looked up here; the machine knows what it is.
    return zoneOf(undefined)
  }
}

const zoneOf = (timeZone: string | undefined): string =>
  new Intl.DateTimeFormat('en', timeZone === undefined ? {} : { timeZone }).resolvedOptions().timeZone

/** A moment for a table, to the minute, in a time zone. */
export const minuteIn =
  (zone: string) =>
  (at: Instant): string =>
    wallClock(Date.parse(at), zone).slice(0, 16).replace('T', ' ')

/** The one sentence about the zone that stands below a list with times. */
export const zoneSentence = (zone: string): string => (isUtc(zone) ? 'Times are UTC.' : `Times are local: ${zone}.`)

const isUtc = (zone: string): boolean => /^(Etc\/)?(UTC|GMT|UCT|Zulu|Universal)$/i.test(zone)

/** A date or a time without a zone, as ISO-8601 text, as a person in this zone means it. */
export const localMoment = (text: string, zone: string): Instant => {
  const wall = Date.parse(instant(`${text}${text.includes('T') ? '' : 'T00:00'}Z`))
  const behind = (at: number): number => Date.parse(`${wallClock(at, zone)}Z`) - Math.floor(at / 1_000) * 1_000
  // The first answer may be on the other side of a change of the clocks.
  return instant(wall - behind(wall - behind(wall)))
}

const PARTS: Intl.DateTimeFormatOptions = {
  ...{ year: 'numeric', month: '2-digit', day: '2-digit' },
  ...{ hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' },
}

const formats = new Map<string, Intl.DateTimeFormat>()

/** The time that a clock on the wall shows, as ISO-8601 text without a zone. */
const wallClock = (at: number, zone: string): string => {
  const format = formats.get(zone) ?? new Intl.DateTimeFormat('en', { ...PARTS, timeZone: zone })
  formats.set(zone, format)
  const part = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]))
  const date = `${part.year?.padStart(4, '0')}-${part.month}-${part.day}`
  return `${date}T${part.hour}:${part.minute}:${part.second}`
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const

/** How long ago something was, in the largest whole unit: `40s`, `3m`, `2h`, `5d`. */
export const age = (from: string, now: number): string => lasting(now - Date.parse(from))

/** A length of time in its largest whole unit. */
const lasting = (ms: number): string => {
  const [unit, size] = UNITS.find(([, each]) => ms >= each) ?? ['s', 1_000]
  return `${Math.max(0, Math.floor(ms / size))}${unit}`
}
