import { defined } from '../../domain/kernel/defined.ts'
import { isRecord } from '../../domain/kernel/record.ts'
import { WINDOW_SOURCES, type WindowParts } from '../../domain/window/context-pressure.ts'
import { PROVIDER_SESSION } from '../../ports/terminal/terminal-files.ts'
import type { SessionCard, Unread } from '../../ports/terminal/wire.ts'
import { readOwnFile } from '../files/own-files.ts'

/** The card of a session, as far as a hook uses it. */
export interface HookCard {
  readonly milestones: readonly number[]
  readonly isCompacting: boolean
  /** The known parts of the window. */
  readonly window: WindowParts
  /** The variables that say where the runtime compacts, as the session's start hook saw them. */
  readonly variables: Readonly<Record<string, string>>
  readonly restarts: number
  readonly costUsd: number | undefined
  readonly notices: readonly string[]
  /** The text that the session gets back after a compaction, and a sentence about it for the person. */
  readonly afterCompaction: { readonly text: string; readonly notice: string | undefined } | undefined
}

const MOST_BYTES = 512 * 1024
const MOST_NOTICES = 10

/** Whether a provider session id may be used as the name of a file. */
export const isFileName = (id: unknown): id is string => typeof id === 'string' && PROVIDER_SESSION.test(id)

/** Reads a session's card. Absent where the service has written none. @throws where it cannot be read */
export const readCard = (folder: string, providerSessionId: string): HookCard | undefined => {
  const text = readOwnFile(`${folder}/sessions/${providerSessionId}.json`, MOST_BYTES)
  if (text === undefined) return undefined
  const json: unknown = JSON.parse(text)
  if (!isRecord(json) || json.v !== 1) throw new Error('it is not a card that this version knows')
  const card: Unread<SessionCard> = json
  return {
    milestones: listOf(card.milestones).flatMap((each) => (isRecord(each) && isShare(each.at) ? [each.at] : [])),
    isCompacting: isRecord(card.level) && card.level.state === 'compacting',
    window: partsIn(card.window),
    variables: textsIn(card.variables),
    restarts: countOf(card.restarts) ?? 0,
    costUsd: countOf(card.costUsd),
    notices: listOf(card.notices)
      .filter((each) => typeof each === 'string')
      .slice(0, MOST_NOTICES),
    afterCompaction: givenBackIn(card.afterCompaction),
  }
}

const givenBackIn = (carried: unknown): HookCard['afterCompaction'] => {
  if (!isRecord(carried) || typeof carried.text !== 'string') return undefined
  return { text: carried.text, notice: typeof carried.notice === 'string' ? carried.notice : undefined }
}

const partsIn = (window: unknown): WindowParts => {
  if (!isRecord(window)) return {}
  const { hardLimit, configuredLimit, autoCompactAt, compactedAt } = window
  const tokens = isRecord(hardLimit) ? countOf(hardLimit.tokens) : undefined
  const source = isRecord(hardLimit) && WINDOW_SOURCES.find((each) => each === hardLimit.source)
  return defined({
    hardLimit: tokens && source ? { tokens, source } : undefined,
    configuredLimit: countOf(configuredLimit),
    autoCompactAt: countOf(autoCompactAt),
    compactedAt: countOf(compactedAt),
  })
}

const textsIn = (value: unknown): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(isRecord(value) ? value : {}).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  )

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

const isShare = (value: unknown): value is number => typeof value === 'number' && value > 0 && value <= 1

/** A number that is neither negative nor infinite. */
export const countOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined
