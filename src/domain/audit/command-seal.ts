import { canonicalJson } from '../kernel/canonical-json.ts'
import { type Sha256, toBase64 } from '../kernel/digest.ts'
import type { CommandId, ConversationId } from '../kernel/ids.ts'

/** A command that was carried out, as a store remembers it. */
export interface KeptCommand {
  readonly id: CommandId
  /** Whose log seals it; absent when it logged nothing and the store does not need to know. */
  readonly conversationId?: ConversationId
  /** The request, as a salted digest. */
  readonly digest: string
  /** The receipt as stored, if there is one; somebody may have changed it. */
  readonly receipt?: unknown
  /** When it was kept, by the clock of the store, in the words of the store. */
  readonly keptAt?: string
}

const utf8 = new TextEncoder()

/** The digest of a request, with its salt in front: once the row is deleted, nobody can test a guess against it. */
export const payloadDigest = (payload: string, salt: string, sha256: Sha256): string =>
  `${salt}:${toBase64(sha256(utf8.encode(`${salt}\n${payload}`)))}`

/** Whether a command asks what the one of this digest did. */
export const asksTheSame = (digest: string, payload: string, sha256: Sha256): boolean =>
  payloadDigest(payload, digest.slice(0, digest.indexOf(':')), sha256) === digest

/** Whether the migration to digests took a token out of a receipt: it is no longer what its entry was sealed with. */
export const isTokenRemoved = ({ receipt }: KeptCommand): boolean =>
  typeof receipt === 'object' && receipt !== null && 'tokenRemoved' in receipt && receipt.tokenRemoved === true

/** Whether a row is what its entry was sealed with. Seals of earlier versions do not say when the row was kept. */
export const matchesSeal = (command: KeptCommand, sealed: string, sha256: Sha256): boolean => {
  const [seal, keptAt] = sealed.split('@')
  return commandSeal(command, sha256) === seal && (keptAt === undefined || keptAt === command.keptAt)
}

/**
 * Binds what a command asked and answered to the log: it stands in the first entry that the command wrote, and after it,
 * behind an `@`, when the row was kept.
 */
export const commandSeal = ({ conversationId, digest, receipt }: KeptCommand, sha256: Sha256): string =>
  toBase64(sha256(utf8.encode(canonicalJson([conversationId, digest, receipt ?? null]))))
