import { readOwnFile } from '../../own-files.ts'
import { PROVIDER_SESSION } from '../../ports/terminal-files.ts'
import { isRecord } from './read-input.ts'

/** The service's latest words about a session, as far as a hook uses them. */
export interface SessionCard {
  readonly milestones: readonly number[]
  readonly level:
    | { readonly state: 'known'; readonly windowTokens: number | undefined }
    | { readonly state: 'unknown' | 'compacting' }
  readonly restarts: number
  readonly costUsd: number | undefined
  readonly notices: readonly string[]
  /** The text that the session gets back after a compaction. */
  readonly afterCompaction: string | undefined
}

const MOST_BYTES = 512 * 1024
const MOST_NOTICES = 10

/** Whether a provider session id may be used as the name of a file. */
export const isFileName = (id: unknown): id is string => typeof id === 'string' && PROVIDER_SESSION.test(id)

/** Reads a session's card. Absent where the service has written none. @throws where it cannot be read */
export const readCard = (folder: string, providerSessionId: string): SessionCard | undefined => {
  const text = readOwnFile(`${folder}/sessions/${providerSessionId}.json`, MOST_BYTES)
  if (text === undefined) return undefined
  const card: unknown = JSON.parse(text)
  if (!isRecord(card) || card.v !== 1) throw new Error('it is not a card that this version knows')
  return {
    milestones: listOf(card.milestones).flatMap((each) => (isRecord(each) && isShare(each.at) ? [each.at] : [])),
    level: levelOf(card.level),
    restarts: countOf(card.restarts) ?? 0,
    costUsd: countOf(card.costUsd),
    notices: listOf(card.notices)
      .filter((each) => typeof each === 'string')
      .slice(0, MOST_NOTICES),
    afterCompaction: textIn(card.afterCompaction),
  }
}

const textIn = (carried: unknown): string | undefined =>
  isRecord(carried) && typeof carried.text === 'string' ? carried.text : undefined

const levelOf = (level: unknown): SessionCard['level'] => {
  if (!isRecord(level)) return { state: 'unknown' }
  if (level.state === 'known') return { state: 'known', windowTokens: countOf(level.windowTokens) }
  return { state: level.state === 'compacting' ? 'compacting' : 'unknown' }
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

const isShare = (value: unknown): value is number => typeof value === 'number' && value > 0 && value <= 1

/** A number that is neither negative nor infinite. */
export const countOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined
