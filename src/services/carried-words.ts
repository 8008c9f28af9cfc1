import { besideTask } from '../domain/checkpoint/beside-task.ts'
import {
  bytesOfTokens,
  type ChosenWords,
  choosePersonWords,
  mostPersonMessages,
} from '../domain/checkpoint/person-words.ts'
import { type Conversation, taskOf } from '../domain/conversation/conversation.ts'
import type { MessageRepository } from '../ports/message-repository.ts'
import { COUNTED_PERSON_MESSAGES } from '../ports/person-messages.ts'

/** Once newer messages have used the budget up, so much of each is read. */
const CHARACTERS_OF_OLDER = 2_000

/**
 * The person's words beside the task, as far as a continuation of so many tokens carries them. They are
 * taken from the record and never from an earlier continuation, so that it stays the same through any number of windows.
 */
export const carriedWords = async (
  messages: Pick<MessageRepository, 'findPersonMessages'>,
  conversation: Conversation,
  tokens: number,
): Promise<ChosenWords> => {
  const most = Math.min(COUNTED_PERSON_MESSAGES, mostPersonMessages(tokens))
  const wanted = { most, characters: bytesOfTokens(tokens), olderCharacters: CHARACTERS_OF_OLDER }
  const found = await messages.findPersonMessages(conversation.id, wanted)
  const asked = { task: taskOf(conversation), sequence: conversation.asked?.sequence ?? 0 }
  return choosePersonWords(besideTask(found.messages, found.more, asked), { tokens, more: found.more })
}
