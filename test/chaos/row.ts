/** What a phase came to: a line of the table, and what was wrong in words. */
export interface Row {
  readonly phase: string
  readonly cells: Readonly<Partial<Record<Column, string | number>>>
  /** What was not as it must be; none means that the phase held. */
  readonly problems: readonly string[]
  /** What is worth knowing and no problem; in the report only. */
  readonly notes?: readonly string[]
  /** Said instead of figures when a phase could not be run here. */
  readonly notRun?: string
}

const COLUMNS = [
  'faults',
  'invoked',
  'acknowledged',
  'refused',
  'failures',
  'in doubt',
  'found once',
  'lost',
  'doubled',
  'never invoked',
  'invariants',
  'verify',
] as const

type Column = (typeof COLUMNS)[number]

/** The table at the end, in Markdown: it can be pasted as it is. */
export const tableOf = (rows: readonly Row[]): string => {
  const lines = rows.map(({ phase, cells, problems, notRun }) => [
    phase,
    ...COLUMNS.map((column) => text(cells[column])),
    notRun === undefined ? (problems.length === 0 ? 'held' : `**${problems.length} wrong**`) : `not run: ${notRun}`,
  ])
  const all = [['phase', ...COLUMNS, 'result'], ...lines]
  const widths = all[0]?.map((_, at) => Math.max(...all.map((line) => line[at]?.length ?? 0))) ?? []
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, at) => (at === 0 || at === cells.length - 1 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join(' | ')} |`
  const rule = `| ${widths.map((width, at) => (at === 0 || at === widths.length - 1 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`
  const [head = [], ...body] = all
  return [line(head), rule, ...body.map(line)].join('\n')
}

/** The last line of a run, and its exit code: 0 only when every phase that was asked for has run and held. */
export const verdictOf = (
  rows: readonly Row[],
  isStopped: boolean,
): { readonly line: string; readonly exit: number } => {
  if (isStopped) return { line: 'Stopped early, so this proves nothing.', exit: 1 }
  if (rows.some(({ problems }) => problems.length > 0)) return { line: 'Something did not hold: see above.', exit: 1 }
  const left = rows.flatMap(({ phase, notRun }) => (notRun === undefined ? [] : [`${phase} (${notRun})`]))
  if (left.length === 0) return { line: 'Everything held.', exit: 0 }
  const ran = rows.length - left.length
  return { line: `${ran} of ${rows.length} phases held; not run, so not proven: ${left.join('; ')}.`, exit: 3 }
}

const text = (cell: string | number | undefined): string =>
  cell === undefined ? '' : typeof cell === 'number' ? cell.toLocaleString('en-US') : cell
