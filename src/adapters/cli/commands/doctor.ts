import { counted } from '../../../domain/kernel/counted.ts'
import { type DoctorPlace, examineEverything, homeStore } from '../../../main/doctor.ts'
import { StoreFailure } from '../../../ports/store/store-failure.ts'
import type { Examined, HealthResult } from '../../../ports/system/health-check.ts'
import { serviceIn } from '../choose/store-options.ts'
import { CommandNotCompleted, UsageError } from '../invocation/command-problems.ts'
import { EXIT } from '../invocation/exit-codes.ts'
import type { Invocation, Run } from '../invocation/invocation.ts'
import type { Span, Style } from '../invocation/output.ts'
import { withHints } from '../render/printed-commands.ts'
import { describeStore } from '../render/store-name.ts'
import { plain, plainLines, toJson, widthOn, wrapped } from '../render/text.ts'
import { writeSpans } from '../terminal/style.ts'

/** Looks at everything that Batonpass stands on, says how to repair what is wrong, and changes nothing. */
export const doctor: Run = async (invocation) => {
  const { out, values, hint } = invocation
  const findings = (await examineEverything(placeFor(invocation))).map((finding) => ({
    ...finding,
    ...(finding.repair !== undefined && { repair: withHints(finding.repair, hint) }),
  }))
  const problems = findings.filter(({ result }) => result === 'problem').length
  const warnings = findings.filter(({ result }) => result === 'warning').length
  if (values.json === true) out.line(toJson({ problems, warnings, findings }))
  else for (const line of renderFindings(findings, widthOn(out))) writeSpans(out, line)
  if (problems > 0)
    throw new CommandNotCompleted(
      `There ${problems === 1 ? 'is' : 'are'} ${counted(problems, 'problem')}.`,
      EXIT.failure,
    )
}

/** A store that cannot be chosen is the first thing that is wrong, and no reason to look no further. */
const placeFor = (invocation: Invocation): DoctorPlace => {
  const { environment, version = '' } = invocation
  const around = { environment, workingFolder: process.cwd(), program: version }
  try {
    const { folder, store, why, remarks } = serviceIn(invocation)
    return { ...around, folder, store: { options: store, name: describeStore(store), why, remarks } }
  } catch (problem) {
    if (!(problem instanceof UsageError || problem instanceof StoreFailure)) throw problem
    return { ...around, folder: homeStore(environment), store: { problem: problem.message } }
  }
}

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
