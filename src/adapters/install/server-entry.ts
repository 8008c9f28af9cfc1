import { ok, type Result } from '../../domain/kernel/result.ts'
import { INSTALLED_SERVER } from '../../domain/kernel/tool-servers.ts'
import { isOwnProgram } from './agent-settings.ts'
import {
  changed,
  type IsMade,
  itemsOf,
  type JsonDocument,
  type JsonNode,
  type JsonPath,
  textOf,
  valueAt,
  withObjects,
  withoutEmpty,
} from './json-document.ts'
import { withMember, withoutChild } from './json-edit.ts'
import { type TextProblem, wrong } from './refusal.ts'

/** How an MCP server is started: a program and its words. */
export interface ServerStart {
  readonly command: string
  readonly args: readonly string[]
}

/** Whether a server is ours, by the way it is started. */
export const isOwnServer = ({ command, args }: ServerStart): boolean =>
  args.includes('mcp') && isOwnProgram([command, ...args].join(' '))

/** Whether two servers are started the same way. */
export const isSameStart = (one: ServerStart, other: ServerStart): boolean =>
  JSON.stringify([one.command, ...one.args]) === JSON.stringify([other.command, ...other.args])

/** The server of our name in a list of servers, where there is one. It may be somebody else's. */
export const serverIn = ({ root }: JsonDocument, list: JsonPath): ServerStart | 'unknown' | undefined => {
  const node = valueAt(root, [...list, INSTALLED_SERVER])
  return node === undefined ? undefined : startOf(node)
}

const startOf = (node: JsonNode): ServerStart | 'unknown' => {
  const command = textOf(valueAt(node, ['command']))
  const words = (itemsOf(valueAt(node, ['args'])) ?? []).map(textOf)
  if (command === undefined || words.includes(undefined)) return 'unknown'
  return { command, args: words.filter((word) => word !== undefined) }
}

/** Names our server in a list of servers. One of the same name that is not ours is refused. */
export const withServer = (
  document: JsonDocument,
  list: JsonPath,
  start: ServerStart,
): Result<JsonDocument, TextProblem> => {
  const there = serverIn(document, list)
  if (there !== undefined && (there === 'unknown' || !isOwnServer(there))) return FOREIGN
  if (there !== undefined && isSameStart(there, start)) return ok(document)
  const ready = withObjects(there === undefined ? document : takenOut(document, list), list)
  if (!ready.ok) return ready
  const servers = valueAt(ready.value.root, list)
  if (servers === undefined) return ready
  const entry = { type: 'stdio', command: start.command, args: start.args }
  return ok(changed(ready.value, withMember(ready.value.text, servers, INSTALLED_SERVER, entry)))
}

/** The refusal of a server of our name that somebody else named. */
export const FOREIGN = wrong(
  `has an MCP server "${INSTALLED_SERVER}" that is not ours: rename or remove it, or leave ours out with --no-mcp`,
  'settings.foreign_entry',
)

/** Takes our server out, and the list that was only there for it. */
export const withoutServer = (document: JsonDocument, list: JsonPath, isMade: IsMade): JsonDocument => {
  const there = serverIn(document, list)
  if (there === undefined || there === 'unknown' || !isOwnServer(there)) return document
  return withoutEmpty(takenOut(document, list), list, isMade)
}

const takenOut = (document: JsonDocument, list: JsonPath): JsonDocument => {
  const server = valueAt(document.root, [...list, INSTALLED_SERVER])
  return server === undefined ? document : changed(document, withoutChild(document.text, server))
}
