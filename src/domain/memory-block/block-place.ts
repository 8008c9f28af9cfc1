import { MEMORY_BLOCK } from './block-markers.ts'
import type { BlockMarkers } from './memory-block.ts'

/** Puts an empty block at the top: after a byte order mark and front matter, in the file's own line ending. */
export const withBlockAtTop = (text: string, { begin, end }: BlockMarkers): string => {
  const ending = lineEndingOf(text)
  const start = text.startsWith('\ufeff') ? 1 : 0
  const at = start + frontMatterLength(text.slice(start))
  const [above, rest] = [text.slice(0, at), text.slice(at)]
  const block = [MEMORY_BLOCK.heading, '', begin, MEMORY_BLOCK.placeholder, end, ...(rest === '' ? [] : [''])]
  const separator = at === start || /[\r\n]$/.test(above) ? '' : ending
  return `${above}${separator}${block.map((line) => `${line}${ending}`).join('')}${rest}`
}

/** The line ending that the first of these texts with any uses; a line feed when none has one. */
export const lineEndingOf = (...texts: readonly string[]): string => {
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
