import type { Sha256 } from '../kernel/digest.ts'
import type { ConversationId } from '../kernel/ids.ts'
import { type AuditHead, hashesByPlace, type SealedEntry } from './audit-chain.ts'
import type { TextCounts } from './audit-texts.ts'

/** The kinds of problems of an audit log. */
export type AuditProblemClass =
  /** An entry does not match its hash. */
  | 'modified'
  /** An entry that was written is not there. */
  | 'missing'
  /** An entry is not where its hash says it was written. */
  | 'reordered'
  /** Two entries claim one place or one predecessor, or the head does not match the last entry. */
  | 'forked'
  /** The hashes are right, and an entry tells of something that no decision could have made where it stands. */
  | 'impossible'
  /** The entries are sound, and what is stored beside them is not what they add up to. */
  | 'state_differs'
  /** The entries are sound, and a stored text is not the one they have the digest of. */
  | 'text_differs'
  /** The entries are sound, and there are texts that nothing can be said of: their salts are gone. */
  | 'text_unchecked'
  /** An id that must be found once stands in several conversations. Found when all are verified. */
  | 'id_shared'

/** The first thing found wrong with an audit log. */
export interface AuditProblem {
  readonly class: AuditProblemClass
  /** Where in the stream; absent when something is stored that no entry speaks of. */
  readonly position?: number
  /** A sentence for a person. */
  readonly detail: string
}

/** How far the clocks of writers went back within a stream. */
export interface ClockSetBack {
  /** How many entries are dated before an earlier one. */
  readonly entries: number
  /** The one that is furthest behind, and by how much. */
  readonly position: number
  readonly behindMs: number
}

/** The result of verifying the audit log of a conversation. */
export type AuditVerdict = {
  readonly conversationId: ConversationId
  /** How many entries were read and found sound. */
  readonly entries: number
  readonly texts: TextCounts
  /** Entries that are dated before an earlier one. No problem: positions say what came first, times what clocks read. */
  readonly setBack?: ClockSetBack
  /** Receipts that a migration took a token out of: they cannot be compared any more, until they are forgotten. */
  readonly uncheckedReceipts?: number
  /** The parts of the store that no verdict covers. */
  readonly notCovered: readonly string[]
} & ({ readonly intact: true } | { readonly intact: false; readonly problem: AuditProblem })

/** Rows and columns that the log does not hold or seal: tampering with them is not found. */
export const NOT_COVERED: readonly string[] = [
  'monitors (how full windows are)',
  'leases (until when holders are to be heard of)',
  'signals (what sessions are to be told)',
  'the mirror of summaries (a copy; the documents of handoffs are covered)',
  'who holds sessions (digests of their tokens)',
  'answers of commands that logged nothing, and commands that were forgotten',
  'transaction ids (the order of the feed)',
]

/** The stream being checked, and how to hash. */
export interface ChainContext {
  readonly conversation: ConversationId
  readonly sha256: Sha256
}

/** How far to look for the place an entry was written at; a head that was tampered with may claim any length. */
const FARTHEST_PLACE = 1_000_000

/** The problem with the entry that comes after `last`, if there is one. `head` is the stream's own statement of its end. */
export const checkEntry = (
  last: AuditHead,
  entry: SealedEntry,
  head: AuditHead | undefined,
  context: ChainContext,
): AuditProblem | undefined => {
  const { position } = entry
  const due = last.position + 1
  if (position > due) return problem('missing', due, `Entry ${due} is missing; the next one there is says ${position}.`)
  if (!verifiesAt(entry, position, context)) {
    const place = placeOf(entry, Math.max(due, head?.position ?? 0), context)
    if (place !== undefined) return problem('reordered', position, `Entry ${position} was written as entry ${place}.`)
    if (position < due && position > 0) return problem('forked', position, `Two entries claim position ${position}.`)
    return problem('modified', position, `Entry ${position} does not match its hash.`)
  }
  if (position < due) return problem('forked', position, `Two entries claim position ${position}.`)
  if (entry.previousHash === last.hash) return undefined
  return problem('forked', position, `Entry ${position} follows another entry than the one before it.`)
}

/** The problem with the end of a stream whose last entry is `last`, if there is one. */
export const checkHead = (last: AuditHead, head: AuditHead | undefined): AuditProblem | undefined => {
  if (head === undefined) {
    return problem('missing', last.position + 1, `Nothing says where the stream ends; it may have gone on.`)
  }
  if (head.position > last.position) {
    const due = last.position + 1
    return problem('missing', due, `Entry ${due} is missing; the stream ends at ${head.position}.`)
  }
  if (head.position < last.position) {
    const extra = head.position + 1
    return problem('forked', extra, `Entry ${extra} is there, but the stream ends at ${head.position}.`)
  }
  if (head.hash === last.hash) return undefined
  return problem('forked', last.position, `The stream ends with another entry than the last there is.`)
}

/** Whether an entry was written at this position, going by its hash. */
export const verifiesAt = (entry: SealedEntry, position: number, { conversation, sha256 }: ChainContext): boolean =>
  hashesByPlace(conversation, entry, sha256)(position) === entry.hash

/** The place an entry was missing from, when it stands at another. */
export const movedTo = (missing: number, { position }: SealedEntry): AuditProblem =>
  problem('reordered', missing, `Entry ${missing} stands at position ${position}.`)

const placeOf = (entry: SealedEntry, highest: number, { conversation, sha256 }: ChainContext): number | undefined => {
  const hashAt = hashesByPlace(conversation, entry, sha256)
  for (let place = 1; place <= Math.min(highest, FARTHEST_PLACE); place += 1) {
    if (hashAt(place) === entry.hash) return place
  }
  return undefined
}

const problem = (kind: AuditProblemClass, position: number, detail: string): AuditProblem => ({
  class: kind,
  position,
  detail,
})
