import { wordsToCarry, wordsWanted } from '../../../domain/checkpoint/carried-words.ts'
import { type ChosenWords, personWordsBudget } from '../../../domain/checkpoint/person-words.ts'
import { askedTask, type Conversation } from '../../../domain/conversation/conversation.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import { usableWindow } from '../../../domain/window/context-pressure.ts'
import type { MessageRepository } from '../../../ports/store/message-repository.ts'
import type { RecordOfRun, RunInProgress } from '../run-in-progress.ts'
import { believedWindowOf } from '../run-window.ts'

/** The parts of a run that an opening is made from. */
export type OpeningParts = RecordOfRun & Pick<RunInProgress, 'request' | 'held' | 'setting'>

/** The person's words in the conversation of a run, beside its task, as far as a continuation has room for them. */
export const personWordsOf = async (run: OpeningParts): Promise<ChosenWords> => {
  const windowTokens = run.held.isThere ? windowOf(run) : believedWindowOf(run)?.tokens
  const tokens = personWordsBudget(defined({ windowTokens, set: run.setting('personWordsTokens') }))
  return run.retryThroughOutage(() => carriedWords(run.deps.store.messages, run.conversation.current, tokens))
}

const windowOf = ({ held }: Pick<RunInProgress, 'held'>): number | undefined =>
  held.monitor === undefined ? undefined : usableWindow(held.monitor.window)?.tokens

/**
 * The person's words beside the task, as many as fit into this number of tokens. They are taken from the record and
 * never from an earlier continuation, so that they stay the same through any number of windows.
 */
const carriedWords = async (
  messages: Pick<MessageRepository, 'findPersonMessages'>,
  conversation: Conversation,
  tokens: number,
): Promise<ChosenWords> =>
  wordsToCarry(await messages.findPersonMessages(conversation.id, wordsWanted(tokens)), askedTask(conversation), tokens)
