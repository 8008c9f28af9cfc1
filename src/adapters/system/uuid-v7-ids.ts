import { v7 } from 'uuid'
import type { IdGenerator } from '../../ports/system.ts'

/** Ids that sort by age, so that indexes grow at one end. */
export const uuidV7Ids: IdGenerator = { next: () => v7() }
