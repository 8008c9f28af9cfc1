import {
  bytesOfTokens,
  type ChosenWords,
  choosePersonWords,
  type PersonMessage,
  personWordsBudget,
} from '../../domain/checkpoint/person-words.ts'
import { defined } from '../../domain/kernel/defined.ts'
import { usableWindow } from '../../domain/window/context-pressure.ts'
import type { RunInProgress } from './run-in-progress.ts'

/** More than there are lines for in any budget of the usual size: older messages are counted. */
const MOST_MESSAGES = 500

/** Once newer messages have used the budget up, so much of each is read. */
const CHARACTERS_OF_OLDER = 2_000

/**
 * What the person said in the conversation beside the task, as far as a continuation carries it. It is taken from the
 * record and never from an earlier continuation, so that it stays the same through any number of windows.
 */
export const personWordsOf = async (run: RunInProgress, task: string): Promise<ChosenWords> => {
  const windowTokens = run.hasSession ? windowOf(run) : run.believedWindow()?.tokens
  const tokens = personWordsBudget(defined({ windowTokens, set: run.setting('personWordsTokens') }))
  const wanted = { most: MOST_MESSAGES, characters: bytesOfTokens(tokens), olderCharacters: CHARACTERS_OF_OLDER }
  const find = () => run.deps.store.messages.findPersonMessages(run.conversation.id, wanted)
  const { messages, more } = await run.steadily(find)
  const beside = messages.filter((message) => !isTask(message, task.trim()) && message.text.trim() !== '')
  return choosePersonWords(beside, { tokens, more })
}

/** Of a long message only the beginning is read. */
const isTask = ({ text, cut }: PersonMessage, task: string): boolean =>
  cut === undefined ? text.trim() === task : text !== '' && task.startsWith(text.trimStart())

const windowOf = ({ held }: RunInProgress): number | undefined =>
  held.monitor === undefined ? undefined : usableWindow(held.monitor.window)?.tokens
