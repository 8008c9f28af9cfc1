import { ok, type Result } from '../../domain/kernel/result.ts'
import type { FileEdit } from './file-edit.ts'
import { hookEntriesIn, type WantedHooks, withHooks, withoutHooks } from './hook-entries.ts'
import { type JsonDocument, type JsonPath, jsonDocument, madeBy } from './json-document.ts'
import { type TextProblem, wrong } from './refusal.ts'
import { type ServerStart, withoutServer, withServer } from './server-entry.ts'
import { withoutStatusLine, withStatusLine } from './status-line-entry.ts'
import { withoutTomlServer, withTomlServer } from './toml-server.ts'

/** The entries that a file of hooks is to hold. */
export interface WantedSettings {
  readonly path: string
  readonly hooks?: WantedHooks
  readonly statusLine?: { readonly program: string; readonly flags: string }
}

type Change = (document: JsonDocument) => Result<JsonDocument, TextProblem>

const installInto = (text: string | undefined, changes: readonly Change[]) => {
  const read = jsonDocument(text ?? '')
  if (!read.ok) return read
  let document = read.value
  for (const change of changes) {
    const next = change(document)
    if (!next.ok) return next
    document = next.value
  }
  // An empty file in which nothing is to be written stays empty.
  return ok(document.text === read.value.text ? { text } : { text: document.text, made: document.made })
}

const firstDocument = (original: string | undefined): JsonDocument | undefined => {
  const read = original === undefined ? undefined : jsonDocument(original)
  return read?.ok === true ? read.value : undefined
}

const isBlank = (text: string): boolean => {
  const read = jsonDocument(text)
  return read.ok && read.value.root.children?.length === 0
}

/** Hooks, and a status line where the runtime has one, in a file of JSON. */
export const settingsEdit = ({ path, hooks, statusLine }: WantedSettings): FileEdit => ({
  path,
  isBlank,
  ...(hooks === undefined && statusLine === undefined && { isIdle: () => true }),
  install: (text) =>
    installInto(text, [
      ...(hooks === undefined ? [] : [(document: JsonDocument) => withHooks(document, hooks)]),
      ...(statusLine === undefined ? [] : [(document: JsonDocument) => withStatusLine(document, statusLine)]),
    ]),
  remove: (text, { receipt, original }) => {
    const read = jsonDocument(text)
    if (!read.ok) return read
    const first = firstDocument(original)
    const after = withoutStatusLine(withoutHooks(read.value, madeBy(first, receipt?.made)), first)
    return ok({ text: after.text === read.value.text ? text : after.text })
  },
})

/** Our MCP server in a list of a JSON file. */
export const serverEdit = (path: string, list: JsonPath, start: ServerStart | undefined, isLive?: true): FileEdit => ({
  path,
  isBlank,
  ...(isLive && { isLive }),
  ...(start === undefined && { isIdle: () => true }),
  install: (text) => installInto(text, start === undefined ? [] : [(document) => withServer(document, list, start)]),
  remove: (text, { receipt, original }) => {
    const read = jsonDocument(text)
    if (!read.ok) return read
    const after = withoutServer(read.value, list, madeBy(firstDocument(original), receipt?.made))
    return ok({ text: after.text === read.value.text ? text : after.text })
  },
})

/** Our MCP server in a TOML file. */
export const tomlEdit = (path: string, start: ServerStart | undefined): FileEdit => ({
  path,
  isBlank: (text) => text.trim() === '',
  install: (text) => {
    if (start === undefined) return ok({ text })
    const after = withTomlServer(text ?? '', start)
    return after.ok ? ok({ text: after.value }) : after
  },
  remove: (text) => {
    const after = withoutTomlServer(text)
    return after.ok ? ok({ text: after.value }) : after
  },
})

/** A file that is ours from the first to the last character. One that a person has changed is theirs. */
export interface OwnFile {
  readonly path: string
  /** Absent where it is not wanted. */
  readonly content: string | undefined
  readonly isOurs: (text: string) => boolean
  /** The file belongs to another scope as a rule: it is used as it is, and removed only if this installation made it. */
  readonly isBorrowed?: boolean
}

/** The whole of a file that is ours. */
export const wholeFileEdit = ({ path, content, isOurs, isBorrowed = false }: OwnFile): FileEdit => ({
  path,
  isBlank: () => false,
  ...(content === undefined && { isIdle: () => true }),
  install: (text, { isUntouched, isHolder }) => {
    if (content === undefined || text === content) return ok({ text })
    if (isBorrowed && text !== undefined && isOurs(text) && isHolder !== true) return ok({ text })
    if (text === undefined || isUntouched || isOurs(text)) return ok({ text: content })
    return wrong(
      'is there already, and it is not ours or was changed: rename it, or leave it as it is with --no-command',
      'settings.foreign_entry',
    )
  },
  remove: (text, { isHolder }) => ok({ text: isOurs(text) && (!isBorrowed || isHolder === true) ? undefined : text }),
})

/** Commands of a person that call ours among other things. They are never changed. */
export const mixedCommandsIn = (text: string): number => {
  const read = jsonDocument(text)
  return read.ok ? hookEntriesIn(read.value).filter(({ isMixed }) => isMixed).length : 0
}

const MARK =
  '# Added by "baton claude install --scope local", which also removes it: "baton claude uninstall --scope local".'

/** The lines of ours in a list of ignored files: those that may be there, and those of them that are wanted now. */
interface WantedLines {
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
