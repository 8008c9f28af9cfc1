import { createHash } from 'node:crypto'
import type { Sha256 } from '../../domain/kernel/digest.ts'

/**
 * SHA-256, by Node.
 *
 * @example
 * ```ts
 * console.log(sha256(new TextEncoder().encode('baton')).length) // => 32
 * ```
 */
export const sha256: Sha256 = (data) => createHash('sha256').update(data).digest()
