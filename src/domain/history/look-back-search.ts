import { citedIn } from '../checkpoint/checkpoint-citation.ts'
import type { AgentSessionId, ConversationId } from '../kernel/ids.ts'
import type { LookBackHit, LookBackPlace, LookBackQuestion } from './look-back.ts'

/** Whose record is looked at: that of a session's conversation, or a conversation as a person looks at it. */
export type LookBackScope =
  /** A search leaves out what its window holds now: the agent has that before it. */
  { readonly sessionId: AgentSessionId } | { readonly conversationId: ConversationId }

/** The place where a search stopped: a message, and how much of its text was read. */
export interface LookBackPoint {
  readonly sequenceNumber: number
  readonly offset: number
}

/** How much one answer reads at most. Every bound holds whatever the record is like. */
export interface LookBackBounds {
  /** Messages in an answer. */
  readonly messages: number
  /** Characters of each text of a call or a turn. */
  readonly characters: number
  /** Characters of each text that a search found, around the first place that matches. */
  readonly excerpt: number
  /** Messages that a search looks at. */
  readonly searched: number
  /** Bytes of text after which a search stops. */
  readonly searchedBytes: number
  /** Messages after a call among which its result is looked for. */
  readonly resultWithin: number
  /** Tool calls of each message. */
  readonly calls: number
}

/** One question to a store. */
export interface LookBackWanted {
  readonly scope: LookBackScope
  readonly question: LookBackQuestion
  /** For a search: the words, each as its spellings, all of which must occur. Empty for a call or a turn. */
  readonly needles: readonly (readonly string[])[]
  readonly from?: LookBackPoint
  readonly bounds: LookBackBounds
}

/** The findings of a store. Texts are cut to the bounds. */
export interface LookBackRead {
  readonly found: readonly LookBackHit[]
  /** The last message that a search looked at; absent when nothing older is left. */
  readonly searchedBackTo?: LookBackPlace
  /** Whether more messages of a turn follow the last one found. */
  readonly isMore: boolean
  readonly isResultMissing?: true
}

/** The bounds of one answer. */
export const LOOK_BACK_BOUNDS: Omit<LookBackBounds, 'characters'> = {
  messages: 20,
  excerpt: 600,
  searched: 2_000,
  searchedBytes: 16_000_000,
  resultWithin: 1_000,
  calls: 20,
}

/** How many characters of recorded text an answer has, unless the caller says. */
export const LOOK_BACK_CHARACTERS = { usual: 8_000, least: 1_000, most: 20_000 } as const

/** The number of words that a search takes. */
export const MOST_WORDS = 20

/** A question as it is meant: a citation is the call it names, and white space around a name says nothing. */
export const understood = (question: LookBackQuestion): LookBackQuestion => {
  switch (question.by) {
    case 'call':
      return { by: 'call', callId: citedIn(question.callId)[0] ?? question.callId.trim().replace(/^call:/i, '') }
    case 'file':
      return { by: 'file', name: question.name.trim() }
    case 'words':
      return { by: 'words', words: wordsIn(question.words).join(' ') }
    default:
      return question
  }
}

/** The words of a question, between white space. */
export const wordsIn = (words: string): readonly string[] => words.split(/\s+/u).filter((word) => word !== '')

/** The words that a search looks for: each with its spellings. A file name is one word, whatever is in it. */
export const needlesOf = (question: LookBackQuestion): readonly (readonly string[])[] => {
  if (question.by === 'file') return [spellingsOf(question.name)]
  return question.by === 'words' ? wordsIn(question.words).map(spellingsOf) : []
}

/**
 * The spellings that count as the same word. Letters A to Z have no case in a search; others are looked for as given, in
 * lower case, in capitals and with a capital first, because no two databases agree on more.
 */
const spellingsOf = (word: string): readonly string[] => {
  const [first = '', ...rest] = word.toLowerCase()
  const spellings = [word, word.toLowerCase(), word.toUpperCase(), first.toUpperCase() + rest.join('')]
  return [...new Set(spellings.map(withoutCase))]
}

/** A text as a search sees it: the letters A to Z in lower case. It stays as long as it was. */
export const withoutCase = (text: string): string => text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase())

/** Whether all the words occur, each in one of the texts. The texts are as a search sees them. */
export const saysAll = (texts: readonly string[], needles: readonly (readonly string[])[]): boolean =>
  needles.every((spellings) => texts.some((text) => spellings.some((spelling) => text.includes(spelling))))

/** Whether any of the words occurs. */
export const saysAny = (text: string, needles: readonly (readonly string[])[]): boolean =>
  needles.some((spellings) => spellings.some((spelling) => text.includes(spelling)))

/** How many characters come before the first place where any of the words occurs. */
export const firstPlace = (text: string, needles: readonly (readonly string[])[]): number | undefined => {
  const places = needles.flat().map((spelling) => text.indexOf(spelling))
  const first = Math.min(...places.filter((place) => place >= 0))
  return Number.isFinite(first) ? charactersIn(text.slice(0, first)) : undefined
}

/** How many characters of an excerpt come before what was looked for. */
export const BEFORE_THE_MATCH = 200

/** A part of a text, counted in characters: one that takes two units is never cut in half. */
export const passageIn = (
  text: string,
  { from, most }: { readonly from: number; readonly most: number },
): { readonly text: string; readonly before: number; readonly after: number } => {
  const characters = [...text]
  const part = characters.slice(from, from + most)
  const before = Math.min(from, characters.length)
  return { text: part.join(''), before, after: characters.length - before - part.length }
}

/** The number of characters of a text. */
export const charactersIn = (text: string): number => [...text].length

const CURSOR = /^(\d{1,15})\.(\d{1,9})$/

/** A cursor for the place where a search stopped: short, because agents copy it by hand. */
export const cursorOf = ({ sequenceNumber, offset }: LookBackPoint): string => `${sequenceNumber}.${offset}`

/** The place that a cursor stands for; nothing when it is none. */
export const pointIn = (cursor: string): LookBackPoint | undefined => {
  const [, sequence, offset] = CURSOR.exec(cursor) ?? []
  return sequence === undefined ? undefined : { sequenceNumber: Number(sequence), offset: Number(offset) }
}

/** The place of a message, and nothing else of it. */
export const lookBackPlaceOf = ({
  sessionId,
  epoch,
  turn,
  sequenceNumber,
  recordedAt,
}: LookBackPlace): LookBackPlace => ({
  sessionId,
  epoch,
  ...(turn !== undefined && { turn }),
  sequenceNumber,
  recordedAt,
})
