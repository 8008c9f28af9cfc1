import type { FoundInHistory } from '../../../domain/history/look-back.ts'
import { speakerOf } from '../../../domain/history/look-back-text.ts'
import { shortId } from '../../../domain/kernel/id-ending.ts'
import { plain, plainLines, wrapped } from '../render/render-text.ts'
import { minuteIn, zoneIn } from '../render/render-time.ts'
import type { Run } from '../tree/command.ts'
import { asTheyAre, type Lines, printList } from '../tree/list-command.ts'
import { UsageError } from '../tree/problems.ts'

/** Finds words in everything that was said, in any conversation. */
export const search: Run = async (invocation) => {
  const words = invocation.positionals.join(' ')
  if (words.trim() === '') throw new UsageError('Say which words to look for: baton search flaky test')
  await printList<FoundInHistory, FoundInHistory>(invocation, {
    things: 'messages',
    read: (history, page) => history.search(words, page),
    rows: asTheyAre,
    look: render(zoneIn(invocation)),
  })
}

const render =
  (zone: string): Lines<FoundInHistory> =>
  (found, columns) => {
    const { conversationId, title, passage, recordedAt } = found
    const head = [shortId(conversationId), title, speakerOf(found), minuteIn(zone)(recordedAt)].map(plain).join('  ')
    const text = `${passage.before > 0 ? '…' : ''}${passage.text}${passage.after > 0 ? '…' : ''}`
    const said = plainLines(text).filter((line) => line.trim() !== '')
    const called = found.calls.map(({ toolName, argument = '' }) => plain(`${toolName} ${argument}`.trim()))
    const lines = [...called.map((call) => `| called ${call}`), ...said.map((line) => `| ${line}`)]
    return [...wrapped(head, columns, '  '), ...lines.flatMap((line) => wrapped(line, columns, '| ')), '']
  }
