import { type Instant, instant } from '../../../domain/kernel/instant.ts'
import { localMoment, minuteIn } from '../render/render-time.ts'
import { duration, moment } from './history-args.ts'

/** The hour of yesterday at which a report begins unless told otherwise: people leave their work running in the evening. */
const EVENING = '18:00'
const DAY_MS = 86_400_000

/** The moment from which a report tells; without a text, yesterday evening. @throws TypeError when it is no time */
export const since = (text: string | undefined, now: number, zone: string): Instant => {
  const today = dayIn(zone)(instant(now))
  const yesterday = instant(Date.parse(today) - DAY_MS).slice(0, 10)
  if (text === undefined) return localMoment(`${yesterday}T${EVENING}`, zone)
  if (text === 'today') return localMoment(today, zone)
  if (text === 'yesterday') return localMoment(yesterday, zone)
  if (/^\d+[smhd]$/.test(text)) return instant(now - duration(text))
  try {
    return moment(text, zone)
  } catch (cause) {
    throw new TypeError('it must be yesterday, today, a time such as 24h or 7d, or a date such as 2026-11-16T03:45Z.', {
      cause,
    })
  }
}

/** The day of a moment in a time zone, such as `2026-11-18`. */
export const dayIn =
  (zone: string) =>
  (at: Instant): string =>
    minuteIn(zone)(at).slice(0, 10)
