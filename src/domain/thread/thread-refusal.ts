import { type BlockRefusal, describeBlockRefusal } from '../memory-block/block-refusal.ts'
import { describeRefusal, type Refusal } from '../refusal.ts'

/** A refusal of a thread handoff: a rule said no, or the memory file cannot take the summary. */
export type ThreadRefusal = Refusal | BlockRefusal

/**
 * The refusal as a sentence for a person: what happened, why, and what to do.
 *
 * @example
 * ```ts
 * console.log(describeThreadRefusal({ code: 'memory_block.foreign', line: 3 }).split(',')[0])
 * // => The memory block at line 3 holds text that Batonpass did not write
 * ```
 */
export const describeThreadRefusal = (refusal: ThreadRefusal): string =>
  isOfBlock(refusal) ? describeBlockRefusal(refusal) : describeRefusal(refusal)

const isOfBlock = (refusal: ThreadRefusal): refusal is BlockRefusal => refusal.code.startsWith('memory_block.')
