import { ok, type Result } from '../../domain/kernel/result.ts'
import { quoted } from '../../processes/quoted.ts'
import { changed, type JsonDocument, type JsonNode, misshapen, textOf, valueAt } from './json-document.ts'
import { withMember, withoutChild, withValue } from './json-edit.ts'
import { ownHookIn, STATUS_LINE } from './own-hook.ts'
import type { TextProblem } from './refusal.ts'

const KEY = 'statusLine'
const COMMAND = [KEY, 'command']

/** The status line in settings: ours, with the person's own inside it where they had one, or another. */
export interface StatusLineEntry {
  readonly command: string
  readonly isOurs: boolean
  /** The words that start the program, where it is ours. */
  readonly program?: string
}

/** The status line that settings name. */
export const statusLineIn = ({ root }: JsonDocument): StatusLineEntry | undefined => {
  const command = textOf(valueAt(root, COMMAND))
  if (command === undefined) return undefined
  const own = ownHookIn(command)
  const isOurs = own?.event === STATUS_LINE && !own.isMixed
  return { command, isOurs, ...(isOurs && { program: own.program }) }
}

/** Names our status line. One that the person has is not lost: ours runs it and prints its line first. */
export const withStatusLine = (
  document: JsonDocument,
  { program, flags }: { readonly program: string; readonly flags: string },
): Result<JsonDocument, TextProblem> => {
  const { text, root } = document
  const ours = `${program} hook ${STATUS_LINE}${flags}`
  if (valueAt(root, [KEY]) === undefined)
    return ok(changed(document, withMember(text, root, KEY, { type: 'command', command: ours })))
  const command = valueAt(root, COMMAND)
  const before = textOf(command)
  if (command === undefined || before === undefined) return misshapen([KEY], 'an object with a "command"')
  const own = ownHookIn(before)
  if (own?.event === STATUS_LINE)
    return ok(own.isMixed ? document : rewritten(document, command, `${program} hook ${STATUS_LINE}${own.rest}`))
  return ok(rewritten(document, command, `${ours} --then ${quoted(before)}`))
}

const rewritten = (document: JsonDocument, node: JsonNode, command: string): JsonDocument =>
  textOf(node) === command ? document : changed(document, withValue(document.text, node, JSON.stringify(command)))

/** Takes our status line out, and names the person's own again. */
export const withoutStatusLine = (document: JsonDocument, original: JsonDocument | undefined): JsonDocument => {
  const { text, root } = document
  const [line, command] = [valueAt(root, [KEY]), valueAt(root, COMMAND)]
  const own = ownHookIn(textOf(command) ?? '')
  if (line === undefined || command === undefined || own?.event !== STATUS_LINE || own.isMixed) return document
  const theirs = thenIn(own.rest)
  if (theirs === undefined) return changed(document, withoutChild(text, line))
  // As the person wrote it: a text has more than one spelling in JSON.
  const before = valueAt(original?.root, COMMAND)
  const spelled =
    before !== undefined && textOf(before) === theirs
      ? original?.text.slice(before.offset, before.offset + before.length)
      : JSON.stringify(theirs)
  return changed(document, withValue(text, command, spelled ?? JSON.stringify(theirs)))
}

/** The command after `--then`, without the quotes around it. */
const thenIn = (flags: string): string | undefined => {
  const [, written] = /(?:^|\s)--then[\s=]+((?:'[^']*'|\\'|[^\s'"\\]|"(?:\\.|[^"\\])*")+)/s.exec(flags) ?? []
  return written?.replaceAll(
    /'([^']*)'|"((?:\\.|[^"\\])*)"|\\(')/gs,
    (_, single?: string, double?: string, quote?: string) =>
      single ?? double?.replaceAll(/\\(["\\$`])/g, '$1') ?? quote ?? '',
  )
}
