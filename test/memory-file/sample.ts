import { instant } from '../../src/domain/kernel/instant.ts'
import { fillBlock, readBlock, resetBlock } from '../../src/domain/memory-block/memory-block.ts'

const NOW = instant('2026-11-17T10:00:00Z')
const LATER = instant('2026-11-18T10:00:00Z')

/** A file as people have them: a byte order mark, mixed line endings, no newline at its end. */
export const ABOVE = '\ufeff# Rules of the house\r\n\r\nBe kind.\n\n'
/** The part under the block, so long that it cannot be written at one go. */
export const BELOW = `\n\n${Array.from({ length: 3000 }, (_, line) => `- Rule ${line}: 線 è 🏠`).join('\r\n')}\r\nThe end`
const EMPTY = '<current_thread_summary>\r\nNone recorded yet.\r\n</current_thread_summary>'
/** The file before anybody comes. */
export const FILE = `${ABOVE}${EMPTY}${BELOW}`

/** The summary that a thread is given: long, and told from its key alone. */
export const summaryFor = (threadKey: string): string =>
  Array.from({ length: 40 }, (_, line) => `${line}. Progress of ${threadKey}`).join('\n')

/** A rule that gives the block to a thread. */
export const filling =
  (threadKey: string) =>
  (text = '') =>
    fillBlock(text, { threadKey, sourceThreadId: 'parent', expiresAt: LATER, summary: summaryFor(threadKey) }, NOW)

/** A rule that takes the block from a thread. */
export const resetting =
  (threadKey: string) =>
  (text = '') =>
    resetBlock(text, { threadKey })

/** The thread that has the block; undefined when it is free. @throws when the block is not whole */
export const holderIn = (text: string): string | undefined => {
  const read = readBlock(text)
  if (!read.ok) throw new Error(`The block is ${read.error.code}`)
  if (read.value.state === 'free') return undefined
  if (read.value.state !== 'held') throw new Error(`The block is ${read.value.state}`)
  const { threadKey, summary } = read.value.held
  if (summary !== summaryFor(threadKey)) throw new Error(`The summary of ${threadKey} is not whole`)
  return threadKey
}

/** The text without its block. */
export const around = (text: string): readonly string[] => {
  const [above = '', rest = ''] = text.split('<current_thread_summary>')
  return [above, rest.split('</current_thread_summary>')[1] ?? '']
}
