import { agentSessionId, conversationId } from '../../../domain/kernel/ids.ts'
import type { MessageInHistory } from '../../../domain/turn/message.ts'
import { subjectIn } from '../choose/subject.ts'
import { renderText } from '../render/render-facts.ts'
import { minuteIn, zoneIn } from '../render/render-time.ts'
import type { Run } from '../tree/command.ts'
import { asTheyAre, type Lines, printList } from '../tree/list-command.ts'

/** Shows what was said in a conversation or a session, word for word. */
export const messages: Run = async (invocation) => {
  const subject = subjectIn(invocation, { kinds: ['conversation', 'session'] })
  await printList<MessageInHistory, MessageInHistory>(invocation, {
    things: 'messages',
    look: render(zoneIn(invocation)),
    rows: asTheyAre,
    read: async (history, page) => {
      const { kind, id } = await subject(history)
      return kind === 'session'
        ? history.messagesOf(agentSessionId(id), page)
        : history.messages(conversationId(id), page)
    },
  })
}

const render =
  (zone: string): Lines<MessageInHistory> =>
  (message, columns) => {
    const { sequenceNumber, role, origin, recordedAt, text, cut, metadata } = message
    const who = origin === role ? role : `${role} (${origin})`
    const facts = [
      ...(metadata.continues === undefined ? [] : [`continues handoff ${metadata.continues}`]),
      ...(metadata.ledTo === undefined ? [] : [`led to handoff ${metadata.ledTo}`]),
      ...(cut === undefined ? [] : ['only its beginning is kept']),
    ]
    return [
      [`${sequenceNumber}`, who, minuteIn(zone)(recordedAt), ...facts].join('  '),
      ...renderText(text, columns),
      '',
    ]
  }
