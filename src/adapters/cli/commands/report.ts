import { sumsOf } from '../../../domain/history/job-sums.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import { type Instant, instant } from '../../../domain/kernel/instant.ts'
import type { StoreOptions } from '../../../main/options.ts'
import { askAll, askedOf, askStore, type ReportQuestion } from '../choose/asked-stores.ts'
import { durationFlag, momentFlag, notTogether, pageSize, parsedFlag, textFlag } from '../choose/flag-values.ts'
import { openFor } from '../choose/opened-store.ts'
import { serviceIn, storeFor } from '../choose/store-options.ts'
import { CommandNotCompleted } from '../invocation/command-problems.ts'
import { EXIT } from '../invocation/exit-codes.ts'
import type { Invocation, Run } from '../invocation/invocation.ts'
import { continued } from '../render/printed-commands.ts'
import { type Report, reportDocument, type StoreAnswer } from '../render/report-facts.ts'
import { renderReport } from '../render/report-lines.ts'
import { renderReportMarkdown } from '../render/report-markdown.ts'
import { toJson } from '../render/text.ts'
import { localMoment, minuteIn, zoneIn } from '../render/times.ts'
import { writeSpans } from '../terminal/style.ts'

const DEFAULT_LIMIT = 50

/** Tells what every job did since a time, how it stands, and what waits for whom. */
export const reportCommand: Run = async (invocation) => {
  const { values, out } = invocation
  notTogether(invocation, 'json', 'markdown')
  notTogether(invocation, 'after', 'all-stores')
  notTogether(invocation, 'after', 'all')
  const zone = zoneIn(invocation)
  const report = await readReport(invocation, zone)
  if (values.json === true) out.line(toJson(reportDocument(report)))
  else if (values.markdown === true) out.line(renderReportMarkdown(report, zone))
  else for (const line of renderReport(report, { zone, width: out.columns })) writeSpans(out, line)
  if (values.json !== true) sayWhatIsLeft(invocation, report)
  if (report.answers.every((answer) => !('jobs' in answer)))
    throw new CommandNotCompleted('No store could be asked; each is named above, with the reason.', EXIT.failure)
}

/** Asks the stores that the flags choose. */
export const readReport = async (invocation: Invocation, zone: string): Promise<Report> => {
  const { values } = invocation
  const now = Date.now()
  const from = parsedFlag(invocation, 'since', (text) => since(text, now, zone)) ?? since(undefined, now, zone)
  const isAll = values.all === true
  const limit = parsedFlag(invocation, 'limit', pageSize) ?? (isAll ? undefined : DEFAULT_LIMIT)
  const page = defined({ limit, after: textFlag(invocation, 'after') })
  const question: ReportQuestion = { since: from, page, isAll, folder: serviceIn(invocation).folder }
  const answers = await ask(invocation, question)
  const jobs = answers.flatMap((answer) => ('jobs' in answer ? answer.jobs : []))
  return { since: from, at: instant(now), answers, sums: sumsOf(jobs, from, dayIn(zone)) }
}

/** The chosen store; with --all-stores also every other one of this person, each as an answer of its own. */
const ask = async (invocation: Invocation, question: ReportQuestion): Promise<readonly StoreAnswer[]> => {
  const chosen = storeFor(invocation, { to: 'read' })
  if (invocation.values['all-stores'] !== true) {
    const open = async () => (await openFor(invocation, { part: 'store', to: 'read', chosen })).store
    return [await askStore(chosen, open, question)]
  }
  const { openToAsk, otherStores } = await import('../../../main/other-stores.ts')
  const others = otherStores(chosen, invocation.environment)
  return askAll([chosen, ...others], (options: StoreOptions) =>
    askedOf(
      options,
      askStore(options, () => openToAsk(options), question),
    ),
  )
}

const sayWhatIsLeft = (invocation: Invocation, { answers }: Report): void => {
  const more = answers.flatMap((answer) => ('jobs' in answer && answer.next !== undefined ? [answer.next] : []))
  if (more.length === 0) return
  const how = answers.length === 1 ? continued(invocation, more[0] ?? '') : 'the same with --all'
  invocation.notes.line(`There are more jobs, which are not in these sums. Continue with:\n  ${how}`)
}

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
  if (/^\d+[smhd]$/.test(text)) return instant(now - durationFlag(text))
  try {
    return momentFlag(text, zone)
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
