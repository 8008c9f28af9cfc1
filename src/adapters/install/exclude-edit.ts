import { ok } from '../../domain/kernel/result.ts'
import type { FileEdit } from './file-edit.ts'

const MARK =
  '# Added by "baton claude install --scope local", which also removes it: "baton claude uninstall --scope local".'

/** The lines of ours in a list of ignored files: those that may be there, and those of them that are wanted now. */
export interface WantedLines {
  readonly path: string
  readonly lines: readonly string[]
  readonly wanted: readonly string[]
}

/** Lines in a list of files that git ignores. Each stands below a mark, so that it is known again. */
export const excludeEdit = ({ path, lines, wanted }: WantedLines): FileEdit => ({
  path,
  isBlank: (text) => text.trim() === '',
  isIdle: (text = '') => wanted.length === 0 && !lines.some((line) => text.match(blockOf(line)) !== null),
  install: (text) => {
    const missing = wanted.filter((line) => (text ?? '').match(blockOf(line)) === null)
    return ok({ text: missing.length === 0 ? text : missing.reduce(withLine, text ?? '') })
  },
  remove: (text) => ok({ text: lines.reduce(withoutLine, text) }),
})

/** A text that ends within a line still does, so that taking the line out gives it back to the byte. */
const withLine = (text: string, line: string): string =>
  text === '' || text.endsWith('\n') ? `${text}${MARK}\n${line}\n` : `${text}\n${MARK}\n${line}`

const withoutLine = (text: string, line: string): string =>
  text.replace(blockOf(line), (_, before: string, end: string) => (end === '' ? '' : before))

/** The mark, the line below it, and the line ends around them. */
const blockOf = (line: string): RegExp => new RegExp(`(^|\\n)${literal(`${MARK}\n${line}`)}(\\n|$)`)

const literal = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
