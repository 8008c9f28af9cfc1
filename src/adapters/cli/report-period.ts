import { type Instant, instant } from '../../domain/kernel/instant.ts'
import { duration, moment } from './history-args.ts'

/** The hour of yesterday at which a report begins unless told otherwise: people leave their work running in the evening. */
const EVENING = 18

/** The moment from which a report tells; without a text, yesterday evening. @throws TypeError when it is no time */
export const since = (text: string | undefined, now: Date): Instant => {
  if (text === undefined) return localTime(now, -1, EVENING)
  if (text === 'today') return localTime(now, 0, 0)
  if (text === 'yesterday') return localTime(now, -1, 0)
  if (/^\d+[smhd]$/.test(text)) return instant(now.getTime() - duration(text))
  try {
    return moment(text)
  } catch (cause) {
    throw new TypeError('it must be yesterday, today, a time such as 24h or 7d, or a date such as 2026-11-16T03:45Z.', {
      cause,
    })
  }
}

const localTime = (now: Date, days: number, hour: number): Instant =>
  instant(new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, hour))

const two = (number: number): string => String(number).padStart(2, '0')

/** The day of a moment where this machine is, such as `2026-11-18`. */
export const localDay = (at: Instant): string => {
  const date = new Date(at)
  return `${String(date.getFullYear()).padStart(4, '0')}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}

/** A moment where this machine is, to the minute. */
export const localMinute = (at: Instant): string => {
  const date = new Date(at)
  return `${localDay(at)} ${two(date.getHours())}:${two(date.getMinutes())}`
}

/** The name of the time zone of this machine. */
export const localZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone
