import { agentSessionId, conversationId } from '../../../domain/kernel/ids.ts'
import type { MessageInHistory } from '../../../domain/turn/message.ts'
import type { Run } from '../command.ts'
import { idOrKey } from '../history-args.ts'
import { printList } from '../list-command.ts'
import { renderText } from '../render-facts.ts'
import { minute } from '../render-time.ts'
import { findWork, type Work } from '../which-work.ts'

/** Shows what was said in a conversation or a session, word for word. */
export const messages: Run = async (invocation) => {
  const wanted = idOrKey(invocation, 'conversation or session')
  let work: Promise<Work> | undefined
  await printList<MessageInHistory>(invocation, {
    things: 'messages',
    look: render,
    read: async (history, page) => {
      work ??= findWork(history, wanted)
      const { kind, id } = await work
      return kind === 'session'
        ? history.messagesOf(agentSessionId(id), page)
        : history.messages(conversationId(id), page)
    },
  })
}

const render = (message: MessageInHistory, columns: number): readonly string[] => {
  const { sequenceNumber, role, origin, recordedAt, text, cut, metadata } = message
  const who = origin === role ? role : `${role} (${origin})`
  const facts = [
    ...(metadata.continues === undefined ? [] : [`continues handoff ${metadata.continues}`]),
    ...(metadata.ledTo === undefined ? [] : [`led to handoff ${metadata.ledTo}`]),
    ...(cut === undefined ? [] : ['only its beginning is kept']),
  ]
  return [[`${sequenceNumber}`, who, minute(recordedAt), ...facts].join('  '), ...renderText(text, columns), '']
}
