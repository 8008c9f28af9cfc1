import type { AuditEvent, TextName } from '../audit-event.ts'
import { canonicalJson } from '../kernel/canonical-json.ts'
import type { ConversationId } from '../kernel/ids.ts'
import { mapTexts, textFields, withholdTexts } from '../kernel/texts.ts'
import { isSalt, openBody, type SealedEntry } from './audit-chain.ts'
import { ImpossibleEvent } from './audit-replay.ts'
import type { TextLedger } from './audit-texts.ts'
import type { AuditProblem } from './audit-verdict.ts'

const DIGEST = /^[A-Za-z0-9+/]{43}$/

/** The event of an entry, as far as it can be compared, and the seal of its command. */
export interface ComparableEntry {
  readonly event: AuditEvent
  readonly receipt?: string
}

/**
 * The event of an entry, each text in it replaced by what a stored text is compared with: its digest, and the salt
 * unless that is gone.
 *
 * @throws SyntaxError when it is no JSON, ImpossibleEvent when a text stands in it in clear
 */
export const comparableEntry = ({ json, salt }: SealedEntry, conversation: ConversationId): ComparableEntry => {
  const { event, ...rest } = openBody(json, conversation)
  const compared = mapTexts(event, (digest) => {
    if (!DIGEST.test(digest)) throw new ImpossibleEvent('It has something else where the digest of a text belongs')
    return salt === undefined ? digest : `${digest} ${salt}`
  })
  return { event: compared, ...rest }
}

/** A salt that this program did not make was put there so that another text matches. */
export const checkSalt = ({ position, salt }: SealedEntry): AuditProblem | undefined =>
  salt === undefined || isSalt(salt)
    ? undefined
    : { class: 'text_differs', position, detail: `What stands beside entry ${position} as its salt is none.` }

/** Which row is compared, and the last entry that speaks of it. */
export interface AboutRow {
  readonly row: string
  readonly id: string
  /** How to name it to a person. */
  readonly what?: string
  readonly position: number
}

/** The problem with a stored row, if it differs from what the entries add up to. Texts go to the ledger. */
export const checkRow = (
  about: AboutRow,
  expected: object,
  stored: object | undefined,
  texts: TextLedger,
): AuditProblem | undefined => {
  const { position, what = `${about.row} ${about.id}` } = about
  if (stored === undefined) return { class: 'state_differs', position, detail: `The ${what} is not stored.` }
  if (canonicalJson(withholdTexts(expected)) !== canonicalJson(withholdTexts(stored))) {
    return { class: 'state_differs', position, detail: `The stored ${what} is not what the entries add up to.` }
  }
  const found = new Map(textFields(stored).map(({ field, text }) => [field, text]))
  for (const { field, text: token } of textFields(expected)) {
    const name = { row: about.row, id: about.id, field } as TextName
    const problem = texts.compare({ name, what, position }, token, found.get(field) ?? '')
    if (problem !== undefined) return problem
  }
  return undefined
}

/** A row that is stored and that no entry speaks of. */
export const unknownRow = (what: string): AuditProblem => ({
  class: 'state_differs',
  detail: `No entry speaks of the stored ${what}.`,
})
