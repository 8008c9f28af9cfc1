import { wordsToCarry, wordsWanted } from '../../domain/checkpoint/carried-words.ts'
import type { ChosenWords } from '../../domain/checkpoint/person-words.ts'
import { askedTask, type Conversation } from '../../domain/conversation/conversation.ts'
import type { MessageRepository } from '../../ports/store/message-repository.ts'

/**
 * The person's words beside the task, as far as a continuation of so many tokens carries them. They are
 * taken from the record and never from an earlier continuation, so that it stays the same through any number of windows.
 */
export const carriedWords = async (
  messages: Pick<MessageRepository, 'findPersonMessages'>,
  conversation: Conversation,
  tokens: number,
): Promise<ChosenWords> =>
  wordsToCarry(await messages.findPersonMessages(conversation.id, wordsWanted(tokens)), askedTask(conversation), tokens)
