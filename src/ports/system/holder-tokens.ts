import { randomBytes } from 'node:crypto'
import { toBase64 } from '../../domain/kernel/digest.ts'
import { type HolderDigest, type HolderToken, holderDigest, holderToken } from '../../domain/kernel/ids.ts'
import { sha256 } from './sha256.ts'

/** A process shows the same few tokens with every command. */
const REMEMBERED = 1_000

const utf8 = new TextEncoder()
const digests = new Map<HolderToken, HolderDigest>()

/**
 * A new holder token: 256 random bits, made where the command is asked, before its first try. No generator can be given
 * from outside: a fence is as good as its tokens.
 */
export const newHolderToken = (): HolderToken => holderToken(`hold_${randomBytes(32).toString('base64url')}`)

/**
 * The digest of a token, as stores keep it. A salt would hide nothing: nobody can try 2^256 tokens.
 */
export const tokenDigest = (token: HolderToken): HolderDigest => {
  const remembered = digests.get(token)
  if (remembered !== undefined) return remembered
  const digest = holderDigest(toBase64(sha256(utf8.encode(token))))
  if (digests.size >= REMEMBERED) for (const oldest of digests.keys()) if (digests.delete(oldest)) break
  digests.set(token, digest)
  return digest
}
