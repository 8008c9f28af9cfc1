import type { Instant } from '../kernel/instant.ts'
import { onOneLine } from '../kernel/safe-text.ts'

/** The ways in which the markers of a file do not enclose one block. */
export type BlockProblem = 'two_blocks' | 'nested' | 'reversed' | 'orphan_begin' | 'orphan_end'

/** The reason why the block of a memory file was not changed. The file is as it was. */
export type BlockRefusal =
  /** The markers are not one pair. `lines` are those of the markers, the first line being 1. */
  | {
      readonly code: 'memory_block.malformed'
      readonly problem: BlockProblem
      readonly lines: readonly number[]
      readonly isCut?: boolean
    }
  /** A summary for another thread waits in it. */
  | { readonly code: 'memory_block.held'; readonly threadKey: string; readonly expiresAt: Instant }
  /** Somebody else's text is between the markers; `line` is that of the first marker. */
  | { readonly code: 'memory_block.foreign'; readonly line: number }

const PROBLEMS: Readonly<Record<BlockProblem, string>> = {
  two_blocks: 'there is more than one block',
  nested: 'a block begins inside of another one',
  reversed: 'the end of the block stands before its beginning',
  orphan_begin: 'a block begins and has no end',
  orphan_end: 'a block ends that has no beginning',
}

/** The refusal as a sentence for a person, who is told of which file elsewhere: the reason, and what to do. */
export const describeBlockRefusal = (refusal: BlockRefusal): string => {
  switch (refusal.code) {
    case 'memory_block.malformed': {
      const { problem, lines, isCut = false } = refusal
      const where = `${lines.length === 1 ? 'line' : 'lines'} ${lines.join(', ')}${isCut ? ' and more' : ''}`
      return `The markers of the memory block are not one pair: ${PROBLEMS[problem]} (${where}). Leave one pair, or none.`
    }
    case 'memory_block.held':
      return (
        `The memory block waits for the thread "${onOneLine(refusal.threadKey)}" until ${refusal.expiresAt}. ` +
        'Let that thread begin, take its summary out ("baton thread cleanup --force" in that folder), or use another file.'
      )
    case 'memory_block.foreign':
      return (
        `The memory block at line ${refusal.line} holds text that Batonpass did not write, so it is left alone. ` +
        'Move that text out of the markers, or delete it, or use another file.'
      )
    default:
      return refusal satisfies never
  }
}
