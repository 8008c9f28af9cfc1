import type { Instant } from '../kernel/instant.ts'
import { err, ok, type Result } from '../kernel/result.ts'
import { contentOf, heldIn, isSameKey, linesOf } from './block-content.ts'
import { MEMORY_BLOCK } from './block-markers.ts'
import type { BlockRefusal } from './block-refusal.ts'
import { findBlock, type MarkedText } from './marked-text.ts'

/** The lines that enclose the block in a memory file. */
export interface BlockMarkers {
  readonly begin: string
  readonly end: string
}

/** A summary in the block: whose it is, and until when it may stay. */
export interface HeldBlock {
  /** The external key of the child conversation that the summary is for. */
  readonly threadKey: string
  /** The draft that was accepted, so that two of one key are told apart. */
  readonly draftId?: string
  /** The conversation that the summary is of. */
  readonly sourceThreadId: string
  readonly expiresAt: Instant
  readonly summary: string
}

/** The state of the block in a memory file. */
export type MemoryBlock =
  /** There are no markers: the block has to be inserted. */
  | { readonly state: 'absent' }
  /** The placeholder, or nothing. */
  | { readonly state: 'free' }
  /** A summary of ours. */
  | { readonly state: 'held'; readonly held: HeldBlock }
  /** Text between the markers that we did not write. Never overwritten; a reader takes it as no context. */
  | { readonly state: 'foreign' }

/**
 * Reads the block of a memory file.
 *
 * @returns its state, or the refusal `memory_block.malformed`
 */
export const readBlock = (
  text: string,
  markers: BlockMarkers = MEMORY_BLOCK.markers,
): Result<MemoryBlock, BlockRefusal> => {
  const found = findBlock(text, markers)
  return found.ok ? ok(found.value === undefined ? { state: 'absent' } : stateOf(found.value, markers)) : found
}

/** The text with an empty block in it, at the top unless it has one already. */
export const insertBlock = (
  text: string,
  markers: BlockMarkers = MEMORY_BLOCK.markers,
): Result<string, BlockRefusal> => {
  const found = findBlock(text, markers)
  if (!found.ok || found.value !== undefined) return found.ok ? ok(text) : found
  return ok(withBlockAtTop(text, markers))
}

/**
 * The text with a summary in its block, which is inserted when it is missing. A block that this draft of this thread holds
 * already gets the summary as it is now; one that has expired is replaced.
 *
 * @returns the text, or the refusal (`memory_block.malformed`, `memory_block.held`, `memory_block.foreign`)
 */
export const fillBlock = (
  text: string,
  held: HeldBlock,
  now: Instant,
  markers: BlockMarkers = MEMORY_BLOCK.markers,
): Result<string, BlockRefusal> => {
  const inserted = insertBlock(text, markers)
  const found = inserted.ok ? findBlock(inserted.value, markers) : inserted
  if (!found.ok || found.value === undefined) return found.ok ? ok(text) : found
  const block = stateOf(found.value, markers)
  if (block.state === 'foreign') return err({ code: 'memory_block.foreign', line: found.value.line })
  if (block.state === 'held' && now < block.held.expiresAt) {
    const { threadKey, expiresAt } = block.held
    if (!isSameHolder(block.held, held)) return err({ code: 'memory_block.held', threadKey, expiresAt })
    if (held.draftId === undefined) return ok(text)
  }
  return ok(withInside(found.value, contentOf(held, markers)))
}

/** The thread that is done with its block, or the moment after which no thread may have it. */
export type BlockEnd =
  /** Of this draft alone, where one is named. */
  { readonly threadKey: string; readonly draftId?: string } | { readonly expiredAt: Instant }

/** The text with the placeholder in its block again, if the block is that thread's or is over. Everything else stays. */
export const resetBlock = (
  text: string,
  end: BlockEnd,
  markers: BlockMarkers = MEMORY_BLOCK.markers,
): Result<string, BlockRefusal> => {
  const found = findBlock(text, markers)
  if (!found.ok || found.value === undefined) return found.ok ? ok(text) : found
  const block = stateOf(found.value, markers)
  if (block.state !== 'held') return ok(text)
  const isOver = 'threadKey' in end ? isEndOf(block.held, end) : block.held.expiresAt <= end.expiredAt
  return ok(isOver ? withInside(found.value, [MEMORY_BLOCK.placeholder]) : text)
}

const isSameHolder = (one: HeldBlock, other: HeldBlock): boolean =>
  isSameKey(one.threadKey, other.threadKey) && one.draftId === other.draftId

const isEndOf = (held: HeldBlock, end: Extract<BlockEnd, { threadKey: string }>): boolean =>
  isSameKey(held.threadKey, end.threadKey) && (end.draftId === undefined || end.draftId === held.draftId)

const stateOf = ({ inside }: MarkedText, markers: BlockMarkers): MemoryBlock => {
  const lines = linesOf(inside)
  if (lines.length === 0 || (lines.length === 1 && lines[0]?.trim() === MEMORY_BLOCK.placeholder))
    return { state: 'free' }
  const held = heldIn(inside, markers)
  return held === undefined ? { state: 'foreign' } : { state: 'held', held }
}

const withInside = ({ before, after }: MarkedText, lines: readonly string[]): string => {
  const ending = lineEndingOf(before, after)
  return `${before}${ending}${lines.map((line) => `${line}${ending}`).join('')}${after}`
}

/** Puts an empty block at the top: after a byte order mark and front matter, in the file's own line ending. */
const withBlockAtTop = (text: string, { begin, end }: BlockMarkers): string => {
  const ending = lineEndingOf(text)
  const start = text.startsWith('\ufeff') ? 1 : 0
  const at = start + frontMatterLength(text.slice(start))
  const [above, rest] = [text.slice(0, at), text.slice(at)]
  const block = [MEMORY_BLOCK.heading, '', begin, MEMORY_BLOCK.placeholder, end, ...(rest === '' ? [] : [''])]
  const separator = at === start || /[\r\n]$/.test(above) ? '' : ending
  return `${above}${separator}${block.map((line) => `${line}${ending}`).join('')}${rest}`
}

/** The line ending that the first of these texts with any uses; a line feed when none has one. */
const lineEndingOf = (...texts: readonly string[]): string => {
  for (const text of texts) {
    const [ending] = /\r\n|\n|\r/.exec(text) ?? []
    if (ending !== undefined) return ending
  }
  return '\n'
}

/** The length of settings between two lines of dashes, which only count as such at the very beginning of a file. */
const frontMatterLength = (text: string): number => {
  if (!text.startsWith('---')) return 0
  const lines = text.match(/[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+$/g) ?? []
  const last = lines.findIndex((line, index) => index > 0 && isDashes(line))
  const settings = lines.slice(1, last)
  const isSettings = last > 1 && isDashes(lines[0] ?? '') && settings.some(isKey) && settings.every(isSetting)
  return isSettings ? lines.slice(0, last + 1).join('').length : 0
}

const isDashes = (line: string): boolean => line.trimEnd() === '---'
const isKey = (line: string): boolean => /^[\w.][\w.-]*:(?:\s|$)/.test(line)
const isSetting = (line: string): boolean => isKey(line) || /^(?:\s|#|- |\}|\])/.test(line)
