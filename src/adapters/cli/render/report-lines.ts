import { titleOf } from '../../../domain/conversation/title.ts'
import type { Job } from '../../../domain/history/job.ts'
import { folderOf, type JobSum } from '../../../domain/history/job-sums.ts'
import { counted } from '../../../domain/kernel/counted.ts'
import type { Instant } from '../../../domain/kernel/instant.ts'
import type { Span, Style } from '../invocation/output.ts'
import { inHome } from './conversation-rows.ts'
import type { StoreAnswer } from './report-facts.ts'
import { dollarText, nameOf, type Report, remarksOf, STATE_STYLE, totalText } from './report-facts.ts'
import { cut, cutStart, plain, widthOf, wrapped } from './text.ts'
import { type Column, TextTable } from './text-table.ts'
import { age, minuteIn } from './times.ts'

type Line = readonly Span[]

/** Where everything about a job begins; on a narrow terminal below its state and not beside it. */
const [INDENT, NARROW_INDENT, NARROW] = [10, 2, 60]
const SEPARATOR = ' · '
const LONGEST_FOLDER = 32

/** How a report is shown. */
export interface ReportLook {
  readonly zone: string
  readonly width?: number | undefined
  /** The sums at the end are left out. */
  readonly isShort?: boolean
}

/** A report in lines of a width. */
export const renderReport = (report: Report, { zone, width, isShort }: ReportLook): readonly Line[] => {
  const { since, answers, sums } = report
  const isMany = answers.length > 1
  const head = `Since ${minuteIn(zone)(since)} (${zone}): ${totalText(report)}`
  return [
    ...lines(head, width, 'title'),
    ...answers.flatMap((answer) => [
      ...(isMany ? [[], ...lines(plain(answer.store), width, 'title')] : []),
      ...answered(answer, report, width),
    ]),
    ...(isShort === true || sums.total.jobs === 0 ? [] : sumLines(report, width)),
  ]
}

const lines = (text: string, width = Number.POSITIVE_INFINITY, style?: Style, indent = ''): readonly Line[] =>
  wrapped(`${indent}${text}`, width, indent).map((each) => [{ text: cut(each, width), style }])

const answered = (answer: StoreAnswer, { at }: Report, width: number | undefined): readonly Line[] => {
  if (!('jobs' in answer)) return lines(`not asked: ${answer.problem}`, width, 'bad')
  if (answer.jobs.length === 0) return lines('Nothing happened, and nothing waits.', width)
  return answer.jobs.flatMap((job) => [[], ...jobLines(job, at, width)])
}

const jobLines = (job: Job, at: Instant, width = Number.POSITIVE_INFINITY): readonly Line[] => {
  const isNarrow = width < NARROW
  const indent = ' '.repeat(isNarrow ? NARROW_INDENT : INDENT)
  const state = isNarrow ? `${job.state}  ` : job.state.padEnd(INDENT)
  const title = cut(plain(titleOf(job.conversations[0])), Math.max(0, width - state.length))
  return [
    [
      { text: state, style: STATE_STYLE[job.state] },
      { text: title, style: 'title' },
    ],
    [{ text: `${indent}${factsLine(job, at, width - indent.length)}` }],
    ...remarksOf(job, at).flatMap(({ text, style }) => lines(text, width, style, indent)),
  ]
}

/** The facts of a job as they are shown, and which of them are left out first where there is too little room. */
const factsLine = (job: Job, at: Instant, width: number): string => {
  const { agents, windows, restarts, costUsd, conversations } = job
  const [root, ...threads] = conversations
  const folder = folderOf(job)
  const shown: readonly (readonly [importance: number, text: string | undefined])[] = [
    [9, `${age(job.latestAt, Date.parse(at))} ago`],
    [4, folder && cutStart(plain(inHome(folder)), LONGEST_FOLDER)],
    [3, agents.length === 0 ? undefined : agents.map(plain).join(', ')],
    [6, counted(windows.length, 'window')],
    [2, restarts === 0 ? undefined : counted(restarts, 'restart')],
    [1, threads.length === 0 ? undefined : counted(threads.length, 'thread')],
    [7, dollarText(costUsd)],
    [5, plain(nameOf(root))],
  ]
  const parts = shown.filter((part): part is readonly [number, string] => part[1] !== undefined)
  for (const least of [0, 1, 2, 3, 4, 5, 6, 7]) {
    const line = parts.flatMap(([importance, text]) => (importance > least ? [text] : [])).join(SEPARATOR)
    if (widthOf(line) <= width) return line
  }
  return ''
}

interface SumRow extends JobSum {
  readonly name: string
}

const sumLines = ({ sums: { days, earlier, folders } }: Report, width: number | undefined): readonly Line[] => [
  [],
  ...sumTable(
    'DAY',
    [
      ...days.map((sum) => ({ ...sum, name: sum.day })),
      ...(earlier === undefined ? [] : [{ ...earlier, name: 'earlier' }]),
    ],
    width,
  ),
  [],
  ...sumTable(
    'FOLDER',
    folders.map((sum) => ({ ...sum, name: sum.folder === undefined ? 'no folder' : inHome(sum.folder) })),
    width,
  ),
]

const sumTable = (title: string, rows: readonly SumRow[], width: number | undefined): readonly Line[] => {
  const columns: readonly Column<SumRow>[] = [
    { title, of: ({ name }) => name, keepsEnd: true },
    { title: 'JOBS', of: ({ jobs }) => String(jobs), most: 5 },
    { title: 'WINDOWS', of: ({ windows }) => String(windows), most: 7, importance: 1 },
    { title: 'COST', of: ({ costUsd }) => dollarText(costUsd) ?? '', most: 10 },
  ]
  const table = new TextTable(columns, rows, width)
  return rows.length === 0 ? [] : [table.header(), ...rows.map((row) => table.row(row))]
}
