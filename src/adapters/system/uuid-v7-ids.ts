import { v7 } from 'uuid'
import type { IdGenerator } from '../../ports/system.ts'

/**
 * Ids that sort by age, so that indexes grow at one end.
 *
 * @example
 * ```ts
 * console.log(uuidV7Ids.next() < uuidV7Ids.next()) // => true
 * ```
 */
export const uuidV7Ids: IdGenerator = { next: () => v7() }
