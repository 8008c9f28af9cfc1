import { defined } from '../kernel/defined.ts'
import type { LookBackAnswer, LookBackHit, LookBackQuestion } from './look-back.ts'
import { charactersIn, cursorOf, type LookBackPoint, type LookBackRead, lookBackPlaceOf } from './look-back-search.ts'
import { shown } from './look-back-text.ts'

/** The room that the lines around each text take. */
const LINES = 160

/** The first finding has this much room at least, or nobody would ever come further. */
const LEAST_ROOM = 200

/** The answer that a store's findings make, as long as so many characters when it is shown. */
export const answerFrom = (question: LookBackQuestion, read: LookBackRead, characters: number): LookBackAnswer => {
  const isSearch = question.by === 'file' || question.by === 'words'
  const { found, stopped } = isSearch ? wholeOnes(read.found, characters) : readOn(read.found, characters)
  const next = stopped ?? (isSearch ? below(read) : after(read))
  const last = found.at(-1)
  const isCutShort = stopped !== undefined && last !== undefined
  const searchedBackTo = isCutShort ? lookBackPlaceOf(last) : read.searchedBackTo
  return defined({
    question,
    found,
    next: next && cursorOf(next),
    searchedBackTo: isSearch ? searchedBackTo : undefined,
    isWhole: next === undefined,
    isResultMissing: read.isResultMissing,
  })
}

interface Fitting {
  readonly found: readonly LookBackHit[]
  /** Where the next answer begins, when that is not all that was read. */
  readonly stopped?: LookBackPoint
}

/** The findings of a search, as many as fit whole. The next page begins below the last one; a text is read by its call or turn. */
const wholeOnes = (all: readonly LookBackHit[], characters: number): Fitting => {
  const found: LookBackHit[] = []
  let room = characters
  for (const hit of all) {
    const last = found.at(-1)
    const needed = roomBeside(hit) + roomOf(hit.passage.text)
    if (last !== undefined && needed > room) return { found, stopped: pointAt(last, 0) }
    found.push(hit)
    room -= needed
  }
  return { found }
}

/** Texts one after the other, the last one cut where the room ends. */
const readOn = (all: readonly LookBackHit[], characters: number): Fitting => {
  const found: LookBackHit[] = []
  let room = characters
  for (const hit of all) {
    room -= roomBeside(hit)
    if (found.length > 0 && room < LEAST_ROOM) return { found, stopped: pointAt(hit, hit.passage.before) }
    const part = shortened(hit, Math.max(room, LEAST_ROOM))
    found.push(part)
    room -= roomOf(part.passage.text)
    const { before, text, after: left } = part.passage
    if (left > 0) return { found, stopped: pointAt(hit, before + charactersIn(text)) }
  }
  return { found }
}

const shortened = (hit: LookBackHit, room: number): LookBackHit => {
  const { text, after: left, ...rest } = hit.passage
  const characters = [...text]
  let used = 0
  const end = characters.findIndex((character) => {
    used += shown(character).length
    return used > room
  })
  if (end < 0) return hit
  const part = characters.slice(0, Math.max(end, 1))
  return { ...hit, passage: { ...rest, text: part.join(''), after: left + characters.length - part.length } }
}

const roomOf = (text: string): number => shown(text).length

const roomBeside = ({ calls }: LookBackHit): number =>
  calls.reduce(
    (sum, { callId, toolName, argument = '' }) => sum + callId.length + toolName.length + argument.length,
    LINES,
  )

const pointAt = ({ sequenceNumber }: LookBackHit, offset: number): LookBackPoint => ({ sequenceNumber, offset })

const below = ({ searchedBackTo }: LookBackRead): LookBackPoint | undefined =>
  searchedBackTo && { sequenceNumber: searchedBackTo.sequenceNumber, offset: 0 }

const after = ({ found, isMore }: LookBackRead): LookBackPoint | undefined => {
  const last = found.at(-1)
  return isMore && last !== undefined ? { sequenceNumber: last.sequenceNumber + 1, offset: 0 } : undefined
}
