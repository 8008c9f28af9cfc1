import type { LookBackAnswer, LookBackQuestion } from '../../domain/history/look-back.ts'
import { answerFrom } from '../../domain/history/look-back-answer.ts'
import {
  LOOK_BACK_BOUNDS,
  LOOK_BACK_CHARACTERS,
  type LookBackPoint,
  type LookBackScope,
  MOST_WORDS,
  needlesOf,
  pointIn,
  understood,
  wordsIn,
} from '../../domain/history/look-back-search.ts'
import {
  type Check,
  type InputProblem,
  isPlainObject,
  noteProblem,
  objectOf,
  oneOf,
  optional,
  wholeNumber,
} from '../../domain/input/check.ts'
import { messageText, name } from '../../domain/input/words.ts'
import { defined } from '../../domain/kernel/defined.ts'
import { err, ok, type Result } from '../../domain/kernel/result.ts'
import type { Refusal } from '../../domain/refusal.ts'
import { LOOK_BACK_WAYS } from '../../domain/session/looked-back.ts'
import { RefusedError } from '../../domain/unwrap.ts'
import type { LookBackPort } from '../../ports/store/look-back-port.ts'

/** How to ask: a question, and which part of the answer. */
export interface LookBackAsked {
  readonly question: LookBackQuestion
  /** The `next` of an answer to the same question. */
  readonly cursor?: string
  /** How many characters the answer has at most when it is shown: 8,000 unless given, from 1,000 to 20,000. */
  readonly limit?: number
}

const BIGGEST_NUMBER = 2_147_483_647

/** A text to look for: some words, and a thousand characters are more than anybody means. */
const searched: Check<string> = (value, field, problems) => {
  const read = messageText(value, field, problems)
  if (typeof read !== 'string') return read
  if (read.length > 1_000) return noteProblem(`it has ${read.length} characters, and 1000 is the most`, field, problems)
  const words = wordsIn(read).length
  if (words > MOST_WORDS) return noteProblem(`it has ${words} words, and ${MOST_WORDS} is the most`, field, problems)
  return words === 0 ? noteProblem('it is blank', field, problems) : read
}

const QUESTIONS = {
  call: objectOf<{ callId: string }>({ callId: cited() }),
  turn: objectOf<{ epoch: number; turn: number }>({
    epoch: wholeNumber(1, BIGGEST_NUMBER),
    turn: wholeNumber(0, BIGGEST_NUMBER),
  }),
  file: objectOf<{ name: string }>({ name: searched }),
  words: objectOf<{ words: string }>({ words: searched }),
}

/** A call id, or a citation of one. */
function cited(): Check<string> {
  return (value, field, problems) => {
    const read = searched(value, field, problems)
    return typeof read === 'string' && understoodCall(read) === ''
      ? noteProblem('it names no call', field, problems)
      : read
  }
}

const understoodCall = (callId: string): string => {
  const question = understood({ by: 'call', callId })
  return question.by === 'call' ? question.callId : ''
}

const question: Check<LookBackQuestion> = (value, field, problems) => {
  if (!isPlainObject(value)) return noteProblem('it is not an object', field, problems)
  const by = oneOf(...LOOK_BACK_WAYS)((value as { readonly by?: unknown }).by, `${field}.by`, problems)
  if (problems.length > 0) return undefined as never
  return { by, ...QUESTIONS[by](value, field, problems) } as LookBackQuestion
}

const cursor: Check<LookBackPoint> = (value, field, problems) =>
  pointIn(name(value, field, problems) ?? '') ??
  noteProblem('it is not a cursor that an answer gave out', field, problems)

const { least, most, usual } = LOOK_BACK_CHARACTERS

interface Asked {
  readonly question: LookBackQuestion
  readonly cursor?: LookBackPoint
  readonly limit?: number
}

const ASKED = objectOf<Asked>({ question, cursor: optional(cursor), limit: optional(wholeNumber(least, most)) })

/** Words to look for. @throws RefusedError */
export const askedSearch = (words: string): string => {
  const problems: InputProblem[] = []
  const read = searched(words, 'words', problems)
  if (problems.length > 0) throw new RefusedError({ code: 'input.invalid', fields: problems })
  return read
}

/** The answer to a question, in one read; or the refusal of a question that cannot be meant. Nothing when nobody asks. */
export const answerLookBack = async (
  lookBacks: LookBackPort,
  scope: LookBackScope,
  raw: LookBackAsked,
): Promise<Result<LookBackAnswer | undefined, Refusal>> => {
  const problems: InputProblem[] = []
  const read = ASKED(raw, '', problems)
  if (problems.length > 0) return err({ code: 'input.invalid', fields: problems })
  const { limit = usual, cursor: from } = read
  const meant = understood(read.question)
  const bounds = { ...LOOK_BACK_BOUNDS, characters: limit }
  const found = await lookBacks.read(defined({ scope, question: meant, needles: needlesOf(meant), from, bounds }))
  return ok(found && answerFrom(meant, found, limit))
}
