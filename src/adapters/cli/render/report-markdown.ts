import { titleOf } from '../../../domain/conversation/title.ts'
import type { Job } from '../../../domain/history/job.ts'
import { folderOf } from '../../../domain/history/job-sums.ts'
import type { Instant } from '../../../domain/kernel/instant.ts'
import { inHome } from './conversation-rows.ts'
import type { StoreAnswer } from './report-facts.ts'
import { dollarText, nameOf, type Report, remarksOf, sumText, totalText } from './report-facts.ts'
import { plain } from './text.ts'
import { minuteIn } from './times.ts'

/** A report as Markdown, for a message to a colleague. */
export const renderReportMarkdown = (report: Report, zone: string): string => {
  const { since, answers, sums } = report
  const isMany = answers.length > 1
  return [
    `**Since ${minuteIn(zone)(since)} (${literal(zone)}):** ${literal(totalText(report))}`,
    ...answers.flatMap((answer) => [
      ...(isMany ? ['', `**${literal(answer.store)}**`] : []),
      '',
      ...answered(answer, report, zone),
    ]),
    ...(sums.total.jobs === 0 ? [] : sumLines(report)),
  ].join('\n')
}

/** Text of others in a cell: it can end neither the cell nor the line, and none of it is markup. */
const literal = (text: string): string => plain(text).replaceAll(/[\\`*_[\]<>|~#&!]/g, '\\$&')

const row = (...cells: readonly string[]): string => `| ${cells.join(' | ')} |`

const answered = (answer: StoreAnswer, { at }: Report, zone: string): readonly string[] => {
  if (!('jobs' in answer)) return [`Not asked: ${literal(answer.problem)}`]
  if (answer.jobs.length === 0) return ['Nothing happened, and nothing waits.']
  return [
    row('State', 'Job', 'Folder', 'Agents', 'Windows', 'Cost', 'Last', 'To know'),
    row('---', '---', '---', '---', '---:', '---:', '---', '---'),
    ...answer.jobs.map((job) => jobRow(job, at, zone)),
  ]
}

const jobRow = (job: Job, at: Instant, zone: string): string => {
  const [root] = job.conversations
  return row(
    job.state,
    `${literal(titleOf(root))} (${literal(nameOf(root))})`,
    literal(inHome(folderOf(job) ?? '')),
    literal(job.agents.join(', ')),
    String(job.windows.length),
    dollarText(job.costUsd) ?? '',
    minuteIn(zone)(job.latestAt),
    remarksOf(job, at)
      .map(({ text }) => literal(text))
      .join('<br>'),
  )
}

const sumLines = ({ sums: { days, earlier, folders } }: Report): readonly string[] => [
  '',
  ...days.map(({ day, ...sum }) => `- ${day}: ${literal(sumText(sum))}`),
  ...(earlier === undefined ? [] : [`- earlier: ${literal(sumText(earlier))}`]),
  '',
  ...folders.map(
    ({ folder, ...sum }) =>
      `- ${folder === undefined ? 'no folder' : literal(inHome(folder))}: ${literal(sumText(sum))}`,
  ),
]
