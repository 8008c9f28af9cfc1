import { ok, type Result } from '../../domain/kernel/result.ts'
import type { TextProblem } from './refusal.ts'
import { FOREIGN, isOwnServer, isSameStart, SERVER_NAME, type ServerStart } from './server-entry.ts'

/** A table of a TOML text: its header and everything up to the next header, in lines. */
interface TomlTable {
  readonly name: string
  /** The first and the line after the last. */
  readonly from: number
  readonly to: number
}

const MARK = '# Added by "baton codex install". "baton codex uninstall" removes it.'
const OUR_TABLE = `mcp_servers.${SERVER_NAME}`
const HEADER = /^\s*\[{1,2}([^\]]+)\]{1,2}\s*(?:#.*)?$/
/** Ways to name a server that are no table of their own. */
const INLINE = new RegExp(`^[ \\t]*"?mcp_servers"?[ \\t]*(?:=|\\.[ \\t]*"?${SERVER_NAME}"?[ \\t]*[.=])`, 'm')

/** How our server is started by a text of TOML; something else of the same name is foreign. */
export const tomlServerIn = (text: string): ServerStart | 'foreign' | undefined => {
  const lines = linesOf(text)
  const table = tablesIn(lines).find(({ name }) => name === OUR_TABLE)
  if (table === undefined) return isNamedOtherwise(text, lines) ? 'foreign' : undefined
  const body = lines.slice(table.from, table.to).join('')
  const [, command] = /^[ \t]*command[ \t]*=[ \t]*("(?:\\.|[^"\\\n])*")/m.exec(body) ?? []
  const [args] = /^\[[^\]]*\]/.exec(body.slice(argumentsStart(body))) ?? []
  const start = { command: read(command), args: read(args) ?? [] }
  return isStart(start) && isOwnServer(start) ? start : 'foreign'
}

/** Where the list of arguments begins; it may go over several lines. */
const argumentsStart = (body: string): number => {
  const named = /^[ \t]*args[ \t]*=[ \t]*(?=\[)/m.exec(body)
  return named === null ? body.length : named.index + named[0].length
}

const read = (written: string | undefined): unknown => {
  try {
    return written === undefined ? undefined : JSON.parse(written)
  } catch {
    return undefined
  }
}

const isStart = (start: { readonly command: unknown; readonly args: unknown }): start is ServerStart =>
  typeof start.command === 'string' && Array.isArray(start.args) && start.args.every((word) => typeof word === 'string')

const isNamedOtherwise = (text: string, lines: readonly string[]): boolean =>
  INLINE.test(text) ||
  tablesIn(lines).some(
    ({ name, from, to }) =>
      name.startsWith(`${OUR_TABLE}.`) ||
      (name === 'mcp_servers' &&
        new RegExp(`^[ \\t]*"?${SERVER_NAME}"?[ \\t]*[.=]`, 'm').test(lines.slice(from, to).join(''))),
  )

/** Adds the table of our server at the end, which is always a good place for one. */
export const withTomlServer = (text: string, start: ServerStart): Result<string, TextProblem> => {
  const there = tomlServerIn(text)
  if (there === 'foreign') return FOREIGN
  if (there !== undefined && isSameStart(there, start)) return ok(text)
  const rest = there === undefined ? text : withoutTomlServer(text)
  const lineEnd = /\r\n/.test(text) ? '\r\n' : '\n'
  const gap = rest === '' ? '' : rest.endsWith('\n') ? lineEnd : `${lineEnd}${lineEnd}`
  const block = [
    MARK,
    `[${OUR_TABLE}]`,
    `command = ${JSON.stringify(start.command)}`,
    `args = [${start.args.map((word) => JSON.stringify(word)).join(', ')}]`,
  ]
  return ok(`${rest}${gap}${block.map((line) => `${line}${lineEnd}`).join('')}`)
}

/** Takes our table out with the tables below it, which mean nothing without it. Codex may have added some to a server. */
export const withoutTomlServer = (text: string): string => {
  const there = tomlServerIn(text)
  if (there === undefined || there === 'foreign') return text
  const lines = linesOf(text)
  const isGone = (line: number): boolean => ours.some(({ from, to }) => line >= from && line < to)
  const ours = tablesIn(lines).filter(({ name }) => name === OUR_TABLE || name.startsWith(`${OUR_TABLE}.`))
  return lines.filter((_, line) => !isGone(line)).join('')
}

const linesOf = (text: string): readonly string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? []

const tablesIn = (lines: readonly string[]): readonly TomlTable[] => {
  const headers = lines.flatMap((line, at) => {
    const [, name] = HEADER.exec(line.trimEnd()) ?? []
    return name === undefined ? [] : [{ name: plainName(name), from: withMark(lines, at) }]
  })
  return headers.map(({ name, from }, at) => ({ name, from, to: bodyEnd(lines, headers[at + 1]?.from) }))
}

const plainName = (name: string): string => name.replaceAll(/["'\s]/g, '')

/** Our comment above a header belongs to it, and so does the empty line above that. */
const withMark = (lines: readonly string[], at: number): number => {
  if (lines[at - 1]?.trimEnd() !== MARK) return at
  return at > 1 && lines[at - 2]?.trim() === '' ? at - 2 : at - 1
}

/** Comments and empty lines above the next header are that one's. */
const bodyEnd = (lines: readonly string[], next: number | undefined): number => {
  if (next === undefined) return lines.length
  let end = next
  while (end > 0 && /^\s*(?:#|$)/.test(lines[end - 1] ?? '')) end -= 1
  return end
}
