import { onOneLine } from '../kernel/safe-text.ts'
import { type Conversation, taskOf } from './conversation.ts'

/** The longest title, in characters: longer ones are no easier to recognise. */
const MOST = 60

/** The name by which a person recognises a conversation: the first line of what they asked for. */
export const titleOf = (conversation: Pick<Conversation, 'originalTask' | 'asked'>): string => {
  const words = taskOf(conversation)
    .split('\n')
    .find((line) => line.trim() !== '')
  const title = [...onOneLine(words ?? '').trim()]
  return title.length > MOST
    ? `${title
        .slice(0, MOST - 1)
        .join('')
        .trimEnd()}…`
    : title.join('')
}
