import type { Examined, HealthResult } from '../../../ports/system/health-check.ts'
import type { Span, Style } from '../terminal/style.ts'
import { plain, plainLines, wrapped } from './render-text.ts'

const STYLES: Readonly<Record<HealthResult, Style>> = { ok: 'good', warning: 'waiting', problem: 'bad' }

const INDENT = '         '

/** One line for each finding, and below it what to do. */
export const renderFindings = (findings: readonly Examined[], columns: number): readonly (readonly Span[])[] =>
  findings.flatMap(({ result, check, text, repair, statements = [] }) => {
    const [first = '', ...rest] = wrapped(`${check}: ${plain(text)}`, columns - INDENT.length)
    return [
      [{ text: result.padEnd(INDENT.length), style: STYLES[result] }, { text: first }],
      ...rest.map((line) => [{ text: `${INDENT}${line}` }]),
      // In one line however long: a command that is cut in two cannot be copied.
      ...(repair === undefined ? [] : [asLine(`${INDENT}  -> ${plain(repair)}`)]),
      ...statements.flatMap((statement) => plainLines(statement).map((line) => asLine(`${INDENT}     ${line}`))),
    ]
  })

const asLine = (text: string): readonly Span[] => [{ text }]
