import type { AuditEvent } from '../audit-event.ts'
import { canonicalJson } from '../kernel/canonical-json.ts'
import { type Sha256, toBase64, toHex } from '../kernel/digest.ts'
import { type CommandId, type ConversationId, isUuid } from '../kernel/ids.ts'
import { isText } from '../kernel/texts.ts'
import { longEvent, shortEvent } from './short-event.ts'

/** Where a stream of entries has come to: its last position and the hash there, as lower-case hexadecimal. */
export interface AuditHead {
  readonly position: number
  readonly hash: string
}

/** An entry exactly as it is stored: what its hash is made of, and the hash. Nothing about it has been checked. */
export interface SealedEntry {
  readonly position: number
  readonly commandId: CommandId
  /** The short form of the event as canonical JSON text, with a salted digest in the place of each text. */
  readonly body: string
  /** The body again, without what the store had to escape in it. */
  readonly json: string
  readonly previousHash: string
  readonly hash: string
  /** The salt of the digests in the body; absent when there are none, or when it was erased. */
  readonly salt?: string
}

/** The parts that the hash of an entry covers. */
export type HashedParts = Omit<SealedEntry, 'hash' | 'salt' | 'json'>

const utf8 = new TextEncoder()

/** Where a stream begins: at position 0, with the SHA-256 of the conversation's id. */
export const chainStart = (conversation: ConversationId, sha256: Sha256): AuditHead => ({
  position: 0,
  hash: toHex(sha256(uuidBytes(conversation))),
})

/** The hash of an entry, in the place it claims. */
export const entryHash = (conversation: ConversationId, parts: HashedParts, sha256: Sha256): string =>
  hashesByPlace(conversation, parts, sha256)(parts.position)

/** The hash an entry would have in any place. `batonpass.audit_hash` computes the same, inside the database. */
export const hashesByPlace = (
  conversation: ConversationId,
  { previousHash, commandId, body }: Omit<HashedParts, 'position'>,
  sha256: Sha256,
): ((position: number) => string) => {
  const before = concat(field(fromHex(previousHash)), field(uuidBytes(conversation)))
  const after = concat(field(uuidBytes(commandId)), field(sha256(utf8.encode(body))))
  return (position) => toHex(sha256(concat(before, field(int64(position)), after)))
}

/** The digest that stands in an entry for a text, salted so that nobody can guess a text that was erased. */
export const textDigest = (salt: string, text: string, sha256: Sha256): string =>
  toBase64(sha256(utf8.encode(`${salt}\n${JSON.stringify(text)}`)))

/** A salt as this program makes them; nothing else is taken for one. */
const RANDOM_UUID = /^.{14}4.{4}[89ab]/

/** Whether a text is a salt, and not something that only stands in its place. */
export const isSalt = (text: string): boolean => isUuid(text) && text === text.toLowerCase() && RANDOM_UUID.test(text)

/** An event as the body of its entry; the salt is kept beside it, where there was a text to digest. */
export const sealBody = (
  event: AuditEvent,
  { salt, receipt }: { readonly salt: string; readonly receipt?: string | undefined },
  sha256: Sha256,
): { readonly body: string; salt?: string } => {
  let texts = 0
  const short = shortEvent(event)
  const sealed = receipt === undefined ? short : { ...short, receipt }
  const body = canonicalJson(sealed, (name, value) => {
    if (!isText(name) || value === undefined) return undefined
    texts += 1
    return textDigest(salt, typeof value === 'string' ? value : canonicalJson(value), sha256)
  })
  return texts > 0 ? { body, salt } : { body }
}

/**
 * The event that a body holds, and apart from it the seal of the command that caused it. The conversation is the one in
 * whose stream the body stands.
 *
 * @throws SyntaxError when it is no JSON
 */
export const openBody = (
  json: string,
  conversation: ConversationId,
): { readonly event: AuditEvent; readonly receipt?: string } => {
  const { receipt, ...short } = JSON.parse(json) as { readonly receipt?: string }
  return { event: longEvent(short, conversation), ...(receipt !== undefined && { receipt }) }
}

/** A field under the hash: its length in four bytes, then its bytes, so that no two lists of fields look alike. */
const field = (bytes: Uint8Array): Uint8Array => {
  const prefixed = new Uint8Array(4 + bytes.length)
  new DataView(prefixed.buffer).setUint32(0, bytes.length)
  prefixed.set(bytes, 4)
  return prefixed
}

const int64 = (value: number): Uint8Array => {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigInt64(0, BigInt(value))
  return bytes
}

const concat = (...parts: readonly Uint8Array[]): Uint8Array => {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

const uuidBytes = (id: string): Uint8Array => fromHex(id.replaceAll('-', ''))

const fromHex = (hex: string): Uint8Array =>
  Uint8Array.from({ length: hex.length / 2 }, (_, index) => Number.parseInt(hex.slice(2 * index, 2 * index + 2), 16))
