import { type SealedEntry, type Sha256, textDigest } from './audit-chain.ts'
import type { AuditEvent } from './audit-event.ts'
import type { AuditProblem } from './audit-verdict.ts'
import { canonicalJson } from './canonical-json.ts'
import { mapTexts, withholdTexts } from './texts.ts'

/**
 * The event of an entry, each text in it replaced by what a stored text can be compared with: salt and digest, or
 * nothing where the salt was erased.
 *
 * @throws SyntaxError when it is no JSON
 */
export const comparableEvent = ({ json, salt }: SealedEntry): AuditEvent =>
  mapTexts(JSON.parse(json) as AuditEvent, (digest) => (salt === undefined ? '' : `${salt} ${digest}`))

/** What is wrong with a stored row, going by what the entries up to `position` add up to; texts are compared by digest. */
export const checkRow = (
  { what, position }: { readonly what: string; readonly position: number },
  expected: object,
  stored: object | undefined,
  sha256: Sha256,
): AuditProblem | undefined => {
  if (stored === undefined) return { class: 'state_differs', position, detail: `The ${what} is not stored.` }
  if (canonicalJson(withholdTexts(expected)) !== canonicalJson(withholdTexts(stored))) {
    return { class: 'state_differs', position, detail: `The stored ${what} is not what the entries add up to.` }
  }
  const found = textsIn(stored)
  const isSame = textsIn(expected).every((token, index) => matches(token, found[index] ?? '', sha256))
  return isSame
    ? undefined
    : { class: 'text_differs', position, detail: `A text of the stored ${what} is not the one that was logged.` }
}

/** A row that is stored and that no entry speaks of. */
export const unknownRow = (what: string): AuditProblem => ({
  class: 'state_differs',
  detail: `No entry speaks of the stored ${what}.`,
})

const matches = (token: string, text: string, sha256: Sha256): boolean => {
  const [salt = '', digest] = token.split(' ')
  return digest === undefined || textDigest(salt, text, sha256) === digest
}

/** The texts of a value, in an order that depends on nothing but its shape. */
const textsIn = (value: object): readonly string[] => {
  const texts: string[] = []
  mapTexts(JSON.parse(canonicalJson(value)), (text) => {
    texts.push(text)
    return text
  })
  return texts
}
