import { type ChosenWords, personWordsBudget } from '../../../domain/checkpoint/person-words.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import { usableWindow } from '../../../domain/window/context-pressure.ts'
import { carriedWords } from '../../carried-words.ts'
import type { RunInProgress } from '../run-in-progress.ts'

/** The person's words in the conversation of a run, beside its task, as far as a continuation has room for them. */
export const personWordsOf = async (run: RunInProgress): Promise<ChosenWords> => {
  const windowTokens = run.hasSession ? windowOf(run) : run.believedWindow()?.tokens
  const tokens = personWordsBudget(defined({ windowTokens, set: run.setting('personWordsTokens') }))
  return run.retryThroughOutage(() => carriedWords(run.deps.store.messages, run.conversation, tokens))
}

const windowOf = ({ held }: RunInProgress): number | undefined =>
  held.monitor === undefined ? undefined : usableWindow(held.monitor.window)?.tokens
