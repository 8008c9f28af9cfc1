import { counted } from '../../../domain/kernel/counted.ts'
import { type DoctorPlace, examineEverything, homeStore } from '../../../main/doctor.ts'
import { StoreFailure } from '../../../ports/store/store-failure.ts'
import { serviceIn } from '../choose/store-options.ts'
import { renderFindings } from '../render/render-findings.ts'
import { describeStore } from '../render/render-store.ts'
import { toJson, widthOn } from '../render/render-text.ts'
import { withHints } from '../terminal/hint.ts'
import { writeSpans } from '../terminal/style.ts'
import type { Invocation, Run } from '../tree/command.ts'
import { EXIT } from '../tree/exit-codes.ts'
import { CommandNotCompleted, UsageError } from '../tree/problems.ts'

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
