import type { LookBackAnswer, LookBackQuestion } from '../../../domain/history/look-back.ts'
import { lookBackText } from '../../../domain/history/look-back-text.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import type { LookBackInHistory } from '../../../domain/session/looked-back.ts'
import { notFound, parsedFlag, textFlag } from '../choose/flag-values.ts'
import { openFor } from '../choose/opened-store.ts'
import { conversationOf, type FindSubject, subjectIn } from '../choose/subject.ts'
import { UsageError } from '../invocation/command-problems.ts'
import type { Invocation, Run } from '../invocation/invocation.ts'
import { continued } from '../render/printed-commands.ts'
import { plainLines, toJson, widthOn, wrapped } from '../render/text.ts'
import { minuteIn, zoneIn } from '../render/times.ts'
import { asTheyAre, printList } from './noun.ts'

const WAYS = ['call', 'turn', 'file', 'words'] as const

/** Answers a person as a session is answered; or lists what sessions asked. A person's own look is put on no record. */
export const lookBack: Run = async (invocation) => {
  const subject = subjectIn(invocation, { kinds: ['conversation', 'session'] })
  const { values, out } = invocation
  if (values.asked === true) return listAsked(invocation, subject)
  const question = questionOf(invocation)
  const limit = parsedFlag(invocation, 'limit', characters)
  await using opened = await openFor(invocation, { part: 'history', to: 'read' })
  const { history } = opened
  const id = await conversationOf(history, await subject(history))
  const answer = await history.lookBack(id, defined({ question, cursor: textFlag(invocation, 'after'), limit }))
  if (answer === undefined) throw notFound('id', 'there is no conversation with it')
  if (values.json === true) return out.line(toJson(answer))
  for (const line of shownLines(answer, widthOn(out))) out.line(line)
  if (answer.next !== undefined) out.line(`\nThere is more. Continue with:\n  ${continued(invocation, answer.next)}`)
}

/** An answer in lines of this width; what goes over a line stays behind the mark. */
const shownLines = (answer: LookBackAnswer, columns: number): readonly string[] =>
  plainLines(lookBackText(answer)).flatMap((line) => wrapped(line, columns, line.startsWith('| ') ? '| ' : '    '))

const questionOf = (invocation: Invocation): LookBackQuestion => {
  const given = WAYS.filter((way) => textFlag(invocation, way) !== undefined)
  const [way] = given
  if (way === undefined || given.length > 1)
    throw new UsageError('Ask by one of --call, --turn, --file and --words; or list what sessions asked with --asked.')
  const text = textFlag(invocation, way) ?? ''
  if (way === 'call') return { by: 'call', callId: text }
  if (way === 'file') return { by: 'file', name: text }
  if (way === 'words') return { by: 'words', words: text }
  return { by: 'turn', ...(parsedFlag(invocation, 'turn', turnPlace) ?? { epoch: 1, turn: 0 }) }
}

const turnPlace = (text: string): { readonly epoch: number; readonly turn: number } => {
  const [, epoch, turn] = /^(\d{1,9})\.(\d{1,9})$/.exec(text) ?? []
  if (epoch === undefined) throw new TypeError('it must be a window and a turn, such as 2.14 (2.0 is its opening).')
  return { epoch: Number(epoch), turn: Number(turn) }
}

const characters = (text: string): number => {
  const size = Number(text)
  if (!/^\d+$/.test(text) || size < 1_000 || size > 20_000) throw new TypeError('it must be from 1000 to 20000.')
  return size
}

const listAsked = async ({ values, ...invocation }: Invocation, subject: FindSubject): Promise<void> => {
  const { limit: _, ...rest } = values
  const minute = minuteIn(zoneIn(invocation))
  await printList<LookBackInHistory, LookBackInHistory>({ ...invocation, values: rest }, 'questions', {
    look: [
      { title: 'ASKED', of: ({ askedAt }) => minute(askedAt), most: 16, isTime: true, importance: 5 },
      { title: 'WINDOW', of: ({ epoch }) => `${epoch}`, most: 6, importance: 3 },
      { title: 'BY', of: ({ by }) => by, most: 5, importance: 4 },
      { title: 'FOUND', of: ({ found: count }) => `${count}`, most: 5, importance: 2 },
      { title: 'AFTER HANDOFF', of: ({ handoffId = '' }) => handoffId, isId: true, importance: 1 },
      { title: 'WHAT', of: ({ text }) => text },
    ],
    read: async (history, page) => history.lookBacks(await conversationOf(history, await subject(history)), page),
    rows: asTheyAre,
  })
}
