import { defined } from '../../../domain/kernel/defined.ts'
import { inQuotes } from '../../../domain/kernel/safe-text.ts'
import { type Batonpass, createBatonpass } from '../../../main/batonpass.ts'
import type { BlockStatus } from '../../../services/thread/thread-requests.ts'
import { textFlag } from '../choose/flag-values.ts'
import { accepted, openForThreads, workspaceIn } from '../choose/thread-choices.ts'
import { CommandNotCompleted } from '../invocation/command-problems.ts'
import { EXIT } from '../invocation/exit-codes.ts'
import type { Invocation, Run } from '../invocation/invocation.ts'
import { plain, toJson } from '../render/text.ts'

/** Puts the empty block into a memory file. */
export const threadSetup: Run = async (invocation) => {
  const { out, values } = invocation
  const workspace = workspaceIn(invocation)
  const place = defined({ workspace, file: textFlag(invocation, 'file') })
  const config = textFlag(invocation, 'config')
  // The file alone is changed: no store is needed for it.
  await using batonpass = await createBatonpass({ store: 'memory', ...defined({ config }) })
  const { path, isWritten } = accepted(await batonpass.threads.setUp(place))
  if (values.json === true) return out.line(toJson({ path, isWritten }))
  out.line(plain(`${path}: ${isWritten ? 'the empty block is at the top now.' : 'the block was there before.'}`))
}

/** Does some work on threads. Before anything is shown the store is closed, and the notes say how much was hidden. */
const withThreads = async <T>(
  invocation: Invocation,
  work: (threads: Batonpass['threads']) => Promise<T>,
): Promise<T> => {
  await using opened = await openForThreads(invocation)
  return await work(opened.batonpass.threads)
}

/** Shows the summaries in the memory files of a workspace. */
export const threadStatus: Run = async (invocation) => {
  const { out, values } = invocation
  const workspace = workspaceIn(invocation)
  const found = await withThreads(invocation, (threads) => threads.status(workspace))
  if (values.json === true) return out.line(toJson({ workspace, blocks: found }))
  if (found.length === 0) return out.line(`No memory file in ${plain(workspace)} has a block for a summary.`)
  for (const one of found) out.line(plain(`${one.path}: ${describe(one)}`))
}

const describe = ({ state, threadKey, expiresAt, isPending, isOfOtherStore, problem }: BlockStatus): string => {
  if (state === 'free') return 'no summary.'
  if (state === 'foreign') return 'text that Batonpass did not write. It is left alone.'
  if (state === 'broken') return `a summary between broken markers. ${problem ?? ''}`
  const waits = isPending === true ? 'waits for' : 'is over: it was for'
  const whose = isOfOtherStore === true ? ', which was opened in another store' : ''
  return `a summary that ${waits} the thread ${inQuotes(threadKey ?? '')}${whose}, until ${expiresAt}.`
}

/** Takes summaries out of the memory files of a workspace. */
export const threadCleanup: Run = async (invocation) => {
  const { out, values } = invocation
  const workspace = workspaceIn(invocation)
  const force = values.force === true
  const report = await withThreads(invocation, (threads) => threads.cleanup({ workspace, force }))
  if (values.json === true) out.line(toJson({ workspace, ...report }))
  else {
    for (const path of report.reset) out.line(plain(`${path}: the summary was taken out.`))
    for (const { path, threadKey, expiresAt } of report.waiting)
      out.line(
        plain(
          `${path}: left as it is. It waits for the thread ${inQuotes(threadKey)}, until ${expiresAt} (--force takes it out).`,
        ),
      )
    if (report.reset.length + report.waiting.length + report.failed.length === 0)
      out.line('There was nothing to take out.')
  }
  if (report.failed.length === 0) return
  const problems = report.failed.map(({ path, cause }) => `${path}: the summary is still there. ${cause}`)
  throw new CommandNotCompleted(plain(problems.join(' ')), EXIT.failure)
}
