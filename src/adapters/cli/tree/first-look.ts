import { StoreFailure } from '../../../ports/store/store-failure.ts'
import { readReport } from '../commands/report.ts'
import { EXIT } from '../invocation/exit-codes.ts'
import type { Invocation, UsedStore } from '../invocation/invocation.ts'
import { renderReport } from '../render/report-lines.ts'
import { widthOn, wrapped } from '../render/text.ts'
import { zoneIn } from '../render/times.ts'
import { writeSpans } from '../terminal/style.ts'
import { reportProblem as tellProblem } from './report-problem.ts'
import { showRootHelp } from './root-help.ts'
import type { Terminal } from './run-command.ts'

/** So many jobs fit on a screen. */
const MOST_JOBS = '8'

const MORE = 'More: "baton report". What runs now: "baton status". All commands: "baton help".'

/** Shows a person who typed nothing but `baton` their latest jobs; where there is no store yet, the help. */
export const firstLook = async ({ out, err: notes, environment, version }: Terminal): Promise<number> => {
  const unused = { positionals: [], input: async () => '', interruption: () => new AbortController().signal }
  const onStore = ({ name, isUsual }: UsedStore): void => {
    if (!isUsual) notes.line(`Store: ${name}`)
  }
  const invocation: Invocation = {
    ...unused,
    ...{ argv: ['report'], values: { limit: MOST_JOBS }, environment, version, out, notes, onStore },
    hint: (words) => words,
  }
  const zone = zoneIn(invocation)
  try {
    const found = await readReport(invocation, zone)
    for (const line of renderReport(found, { zone, width: out.columns, isShort: true })) writeSpans(out, line)
  } catch (problem) {
    if (problem instanceof StoreFailure && problem.code === 'store.missing') {
      showRootHelp(out)
      return EXIT.ok
    }
    const status = tellProblem(problem, notes)
    notes.line('"baton help" lists the commands.')
    return status
  }
  for (const line of ['', ...wrapped(MORE, widthOn(out))]) out.line(line)
  return EXIT.ok
}
