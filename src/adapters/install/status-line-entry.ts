import { ok, type Result } from '../../domain/kernel/result.ts'
import { quoted } from '../../processes/quoted.ts'
import { ownHookIn, STATUS_LINE } from './agent-settings.ts'
import { changed, type JsonDocument, misshapen } from './json-document.ts'
import { withMember, withoutChild, withValue } from './json-edit.ts'
import { type JsonNode, memberOf, textOf } from './json-tree.ts'
import type { TextProblem } from './refusal.ts'

const KEY = 'statusLine'

/** The status line in settings: ours, with the person's own inside it where they had one, or another. */
export interface StatusLineEntry {
  readonly command: string
  readonly isOurs: boolean
  /** The words that start the program, where it is ours. */
  readonly program?: string
}

/** The status line that settings name. */
export const statusLineIn = ({ root }: JsonDocument): StatusLineEntry | undefined => {
  const command = textOf(memberOf(memberOf(root, KEY)?.value, 'command')?.value)
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
  const there = memberOf(root, KEY)?.value
  if (there === undefined) return ok(changed(document, withMember(text, root, KEY, { type: 'command', command: ours })))
  const command = memberOf(there, 'command')?.value
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
  const member = memberOf(root, KEY)
  const command = memberOf(member?.value, 'command')?.value
  const own = ownHookIn(textOf(command) ?? '')
  if (member === undefined || command === undefined || own?.event !== STATUS_LINE || own.isMixed) return document
  const theirs = thenIn(own.rest)
  if (theirs === undefined) return changed(document, withoutChild(text, root, member))
  // As the person wrote it: a text has more than one spelling in JSON.
  const before = memberOf(memberOf(original?.root, KEY)?.value, 'command')?.value
  const spelled =
    before !== undefined && textOf(before) === theirs
      ? original?.text.slice(before.start, before.end)
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
