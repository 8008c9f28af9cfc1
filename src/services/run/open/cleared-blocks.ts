import type { Workspace } from '../../../domain/conversation/conversation.ts'
import { isPendingThread, withoutPending } from '../../../domain/thread/thread-note.ts'
import { RefusedError } from '../../../domain/unwrap.ts'
import { type Placed, type RunInProgress, runWorkspace } from '../run-in-progress.ts'
import type { RunnerDeps } from '../run-terms.ts'
import type { SessionOutcome } from '../work/session-outcome.ts'

/** The parts of a run that know where it works, and emit warnings. */
type Clearing = Placed & Pick<RunInProgress, 'deps' | 'news'>

/**
 * Refuses a run whose key names a thread that was opened in another store, before anything is stored: the thread would
 * begin without its history, and the summary that a person approved would have no use.
 *
 * @throws RefusedError with `thread.other_store`
 */
export const mustBeOfThisStore = async (
  { threads }: RunnerDeps,
  threadKey: string | undefined,
  { workingDirectory, worktreePath = workingDirectory }: Partial<Workspace> = {},
): Promise<void> => {
  const waiting = threadKey === undefined ? undefined : await threads?.otherStoreWaits(threadKey, worktreePath)
  if (waiting === undefined) return
  const { path: file, expiresAt } = waiting
  throw new RefusedError({ code: 'thread.other_store', file, threadKey: waiting.threadKey, expiresAt })
}

/**
 * Removes summaries of ended threads from the memory files that the agent is about to read. While one of them cannot be
 * removed nothing is launched: the summary would leak into this conversation.
 *
 * @throws RefusedError with `thread.block_not_reset`
 */
export const clearBlocks = async (run: Clearing): Promise<void> => {
  const { workingDirectory, worktreePath = workingDirectory } = runWorkspace(run) ?? {}
  const report = await run.deps.threads?.clearAround(worktreePath)
  const [failed] = report?.failed ?? []
  if (failed !== undefined)
    throw new RefusedError({ code: 'thread.block_not_reset', file: failed.path, cause: failed.cause })
  for (const { path, threadKey, expiresAt, isOfOtherStore } of report?.waiting ?? []) {
    if (threadKey === run.conversation.current.externalKey && !isOfOtherStore) continue
    const whose = isOfOtherStore ? ', which was opened in another store' : ''
    const message =
      `${path} has a summary for the thread ${JSON.stringify(threadKey)}${whose}, until ${expiresAt}. The agent reads it ` +
      'as well, and is told there that it is for another thread.'
    run.news.emit({ type: 'run:warning', code: 'thread.block_waits', message })
  }
}

/**
 * Removes the summary of a thread once its agent has stopped for the first time. A failed agent may try again, so it
 * keeps the summary.
 */
export const endFirstExchange = async (run: Clearing, outcome: SessionOutcome): Promise<void> => {
  const { current } = run.conversation
  const isComplete = outcome.type === 'restart' || outcome.outcome === 'completed' || outcome.outcome === 'exhausted'
  if (run.deps.threads === undefined || !isComplete || !isPendingThread(current)) return
  const { failed } = await run.deps.threads.end(current)
  run.conversation.update({ ...current, metadata: withoutPending(current) })
  for (const { path, cause } of failed) {
    const message = `The summary of this thread is still in ${path} (${cause}). No other run starts there until it is out.`
    run.news.emit({ type: 'run:warning', code: 'thread.block_not_reset', message })
  }
}
