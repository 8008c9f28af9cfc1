import type { FoundInHistory } from '../../../domain/history/look-back.ts'
import { speakerOf } from '../../../domain/history/look-back-text.ts'
import { shortId } from '../../../domain/kernel/id-ending.ts'
import { agentSessionId, conversationId } from '../../../domain/kernel/ids.ts'
import type { MessageInHistory } from '../../../domain/turn/message.ts'
import { subjectIn } from '../choose/subject.ts'
import { UsageError } from '../invocation/command-problems.ts'
import { plain, plainLines, renderText, wrapped } from '../render/text.ts'
import { minuteIn, zoneIn } from '../render/times.ts'
import { asTheyAre, type Lines, listCommand } from './noun.ts'

/** Shows what was said in a conversation or a session, word for word. */
export const messages = listCommand<MessageInHistory, MessageInHistory>({
  things: 'messages',
  list: (invocation) => {
    const subject = subjectIn(invocation, { kinds: ['conversation', 'session'] })
    return {
      look: messageLines(zoneIn(invocation)),
      rows: asTheyAre,
      read: async (history, page) => {
        const { kind, id } = await subject(history)
        return kind === 'session'
          ? history.messagesOf(agentSessionId(id), page)
          : history.messages(conversationId(id), page)
      },
    }
  },
})

const messageLines =
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

/** Finds words in everything that was said, in any conversation. */
export const search = listCommand<FoundInHistory, FoundInHistory>({
  things: 'messages',
  list: (invocation) => {
    const words = invocation.positionals.join(' ')
    if (words.trim() === '') throw new UsageError('Say which words to look for: baton search flaky test')
    return {
      read: (history, page) => history.search(words, page),
      rows: asTheyAre,
      look: foundLines(zoneIn(invocation)),
    }
  },
})

const foundLines =
  (zone: string): Lines<FoundInHistory> =>
  (found, columns) => {
    const { conversationId, title, passage, recordedAt } = found
    const head = [shortId(conversationId), title, speakerOf(found), minuteIn(zone)(recordedAt)].map(plain).join('  ')
    const text = `${passage.before > 0 ? '…' : ''}${passage.text}${passage.after > 0 ? '…' : ''}`
    const shownLines = plainLines(text).filter((line) => line.trim() !== '')
    const called = found.calls.map(({ toolName, argument = '' }) => plain(`${toolName} ${argument}`.trim()))
    const lines = [...called.map((call) => `| called ${call}`), ...shownLines.map((line) => `| ${line}`)]
    return [...wrapped(head, columns, '  '), ...lines.flatMap((line) => wrapped(line, columns, '| ')), '']
  }
