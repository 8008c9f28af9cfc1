import { sumsOf } from '../../../domain/history/job-sums.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import { instant } from '../../../domain/kernel/instant.ts'
import { openStore } from '../../../main/open-store.ts'
import type { StoreOptions } from '../../../main/options.ts'
import { askAll, askedOf, askStore, type ReportAsked, type StoreAnswer } from '../choose/asked-stores.ts'
import { pageSize, parsedFlag, textFlag } from '../choose/history-args.ts'
import { dayIn, since } from '../choose/report-period.ts'
import { serviceIn, storeToRead } from '../choose/store-options.ts'
import { renderReport } from '../render/render-report.ts'
import { renderReportMarkdown } from '../render/render-report-markdown.ts'
import { toJson } from '../render/render-text.ts'
import { zoneIn } from '../render/render-time.ts'
import { type Report, reportDocument } from '../render/report-facts.ts'
import { continued } from '../terminal/continued.ts'
import { writeSpans } from '../terminal/style.ts'
import type { Invocation, Run } from '../tree/command.ts'
import { EXIT } from '../tree/exit-codes.ts'
import { notTogether } from '../tree/list-command.ts'
import { CommandNotCompleted } from '../tree/problems.ts'

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
  const asked: ReportAsked = { since: from, page, isAll, folder: serviceIn(invocation).folder }
  const answers = await ask(invocation, asked)
  const jobs = answers.flatMap((answer) => ('jobs' in answer ? answer.jobs : []))
  return { since: from, at: instant(now), answers, sums: sumsOf(jobs, from, dayIn(zone)) }
}

/** The chosen store; with --all-stores also every other one of this person, each as an answer of its own. */
const ask = async (invocation: Invocation, asked: ReportAsked): Promise<readonly StoreAnswer[]> => {
  const chosen = storeToRead(invocation)
  const first = (): Promise<StoreAnswer> => askStore(chosen, () => openStore(chosen), asked)
  if (invocation.values['all-stores'] !== true) return [await first()]
  const { openToAsk, otherStores } = await import('../../../main/every-store.ts')
  const others = otherStores(chosen, invocation.environment)
  return askAll([chosen, ...others], (options: StoreOptions) =>
    askedOf(
      options,
      askStore(options, () => openToAsk(options), asked),
    ),
  )
}

const sayWhatIsLeft = (invocation: Invocation, { answers }: Report): void => {
  const more = answers.flatMap((answer) => ('jobs' in answer && answer.next !== undefined ? [answer.next] : []))
  if (more.length === 0) return
  const how = answers.length === 1 ? continued(invocation, more[0] ?? '') : 'the same with --all'
  invocation.notes.line(`There are more jobs, which are not in these sums. Continue with:\n  ${how}`)
}
