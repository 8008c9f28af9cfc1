import { type ChosenWords, personWordsBudget } from '../../../domain/checkpoint/person-words.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import { usableWindow } from '../../../domain/window/context-pressure.ts'
import { carriedWords } from '../carried-words.ts'
import { believedWindowOf, type RecordOfRun, type RunInProgress } from '../run-in-progress.ts'

/** The parts of a run that an opening is made of. */
export type Opening = RecordOfRun & Pick<RunInProgress, 'request' | 'held' | 'setting'>

/** The person's words in the conversation of a run, beside its task, as far as a continuation has room for them. */
export const personWordsOf = async (run: Opening): Promise<ChosenWords> => {
  const windowTokens = run.held.isThere ? windowOf(run) : believedWindowOf(run)?.tokens
  const tokens = personWordsBudget(defined({ windowTokens, set: run.setting('personWordsTokens') }))
  return run.retryThroughOutage(() => carriedWords(run.deps.store.messages, run.conversation.current, tokens))
}

const windowOf = ({ held }: Pick<RunInProgress, 'held'>): number | undefined =>
  held.monitor === undefined ? undefined : usableWindow(held.monitor.window)?.tokens
