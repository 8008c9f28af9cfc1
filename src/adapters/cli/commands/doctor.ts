import { type DoctorPlace, examineEverything, homeStore } from '../../../doctoring.ts'
import { counted } from '../../../domain/kernel/counted.ts'
import { StoreFailure } from '../../../ports/store-failure.ts'
import type { Invocation, Run } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { withHints } from '../hint.ts'
import { CommandNotCompleted, UsageError } from '../problems.ts'
import { renderFindings } from '../render-findings.ts'
import { describeStore } from '../render-store.ts'
import { toJson, widthOn } from '../render-text.ts'
import { serviceIn } from '../store-options.ts'
import { writeSpans } from '../style.ts'

/** Looks at everything that Batonpass stands on, says how to repair what is wrong, and changes nothing. */
export const doctor: Run = async (invocation) => {
  const { out, values } = invocation
  const findings = (await examineEverything(placeFor(invocation))).map((finding) => ({
    ...finding,
    ...(finding.repair !== undefined && { repair: withHints(finding.repair, values) }),
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
