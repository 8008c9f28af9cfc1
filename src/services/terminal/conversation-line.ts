import type { PersonMessagesWanted } from '../../domain/checkpoint/carried-words.ts'
import type { PersonMessage } from '../../domain/checkpoint/person-words.ts'
import type { Conversation } from '../../domain/conversation/conversation.ts'
import type { Instant } from '../../domain/kernel/instant.ts'
import type { Store } from '../../ports/store/store.ts'
import type { TerminalAgents } from './terminal-agents.ts'

/** As many conversations are read of a branch of a branch. */
const LONGEST_LINE = 8

/** A conversation on the way back from a branch, and the time at which the branch left it. */
interface OnLine {
  readonly conversation: Conversation
  readonly until?: Instant
}

/** A conversation, and then those that it branched off from, nearest first. */
export async function* conversationLine(
  { conversations }: Pick<Store, 'conversations'>,
  conversation: Conversation,
  agents: TerminalAgents,
): AsyncGenerator<OnLine, void> {
  yield { conversation }
  let branch = conversation
  for (let length = 1; length < LONGEST_LINE && agents.opened(branch) && branch.parentId !== undefined; length += 1) {
    const parent = await conversations.find(branch.parentId)
    if (parent === undefined) return
    yield { conversation: parent, until: branch.openedAt }
    branch = parent
  }
}

/** The person's words in a conversation, newest first; in a branch also those that were said before it. */
export const wordsOnLine = async (
  store: Pick<Store, 'conversations' | 'messages'>,
  conversation: Conversation,
  agents: TerminalAgents,
  wanted: PersonMessagesWanted,
): Promise<{ readonly messages: readonly PersonMessage[]; readonly more: number }> => {
  const messages: PersonMessage[] = []
  let older = 0
  for await (const { conversation: each, until } of conversationLine(store, conversation, agents)) {
    const found = await store.messages.findPersonMessages(each.id, wanted)
    messages.push(...found.messages.filter(({ at }) => until === undefined || at <= until))
    older += found.more
  }
  return { messages, more: older }
}
