import { isDeepStrictEqual } from 'node:util'
import { parse, TomlError, type TomlTable as TomlValues } from 'smol-toml'
import { ok, type Result } from '../../domain/kernel/result.ts'
import { INSTALLED_SERVER } from '../../domain/kernel/tool-servers.ts'
import { type TextProblem, wrong } from './refusal.ts'
import { FOREIGN, isOwnServer, isSameStart, type ServerStart } from './server-entry.ts'

/** A table of a TOML text: its header and everything up to the next header, in lines. */
interface TomlTable {
  readonly name: string
  /** The first and the line after the last. */
  readonly from: number
  readonly to: number
}

const MARK = '# Added by "baton codex install". "baton codex uninstall" removes it.'
const OUR_TABLE = `mcp_servers.${INSTALLED_SERVER}`
const HEADER = /^\s*\[{1,2}([^\]]+)\]{1,2}\s*(?:#.*)?$/

/** How our server is started by a text of TOML; something else of the same name is foreign. A broken text has none. */
export const tomlServerIn = (text: string): ServerStart | 'foreign' | undefined => {
  const read = valuesIn(text)
  return read.ok ? serverOf(read.value, text) : undefined
}

const serverOf = (values: TomlValues, text: string): ServerStart | 'foreign' | undefined => {
  const server = serversOf(values)[INSTALLED_SERVER]
  if (server === undefined) return undefined
  // A person may name it in other ways than by a table of its own, which is how we do.
  const isTable = tablesIn(linesOf(text)).some(({ name }) => name === OUR_TABLE)
  const { command, args = [] } = (typeof server === 'object' ? server : {}) as { command?: unknown; args?: unknown }
  const start = { command, args }
  return isTable && isStart(start) && isOwnServer(start) ? start : 'foreign'
}

const isStart = (start: { readonly command: unknown; readonly args: unknown }): start is ServerStart =>
  typeof start.command === 'string' && Array.isArray(start.args) && start.args.every((word) => typeof word === 'string')

/** The values of a text, as Codex reads them. */
const valuesIn = (text: string): Result<TomlValues, TextProblem> => {
  try {
    return ok(parse(text, { integersAsBigInt: 'asNeeded' }))
  } catch (problem) {
    if (!(problem instanceof TomlError)) throw problem
    const [what = ''] = problem.message.split('\n')
    return wrong(
      `is no TOML (line ${problem.line}, column ${problem.column}: ${what.replace(/^Invalid TOML document: /, '')})`,
    )
  }
}

const serversOf = (values: TomlValues): TomlValues => {
  const { mcp_servers: servers } = values
  return typeof servers === 'object' && !Array.isArray(servers) ? (servers as TomlValues) : {}
}

/** Whether all but our server is the same, to the last value. */
const isSameBeside = (one: TomlValues, other: TomlValues): boolean => {
  const rest = (values: TomlValues): TomlValues => {
    const { mcp_servers: _, ...others } = values
    const { [INSTALLED_SERVER]: __, ...servers } = serversOf(values)
    return { ...others, servers }
  }
  return isDeepStrictEqual(rest(one), rest(other))
}

/** A text after a change of ours, if it is still TOML and means the same apart from our server. */
const checked = (before: TomlValues, text: string): Result<string, TextProblem> => {
  const after = valuesIn(text)
  if (after.ok && isSameBeside(before, after.value)) return ok(text)
  return wrong(`cannot be changed without changing more than our MCP server: edit [${OUR_TABLE}] by hand`)
}

/** Adds the table of our server at the end, which is always a good place for one. */
export const withTomlServer = (text: string, start: ServerStart): Result<string, TextProblem> => {
  const values = valuesIn(text)
  if (!values.ok) return values
  const there = serverOf(values.value, text)
  if (there === 'foreign') return FOREIGN
  if (there !== undefined && isSameStart(there, start)) return ok(text)
  const rest = there === undefined ? text : withoutTables(text)
  const lineEnd = /\r\n/.test(text) ? '\r\n' : '\n'
  const gap = rest === '' ? '' : rest.endsWith('\n') ? lineEnd : `${lineEnd}${lineEnd}`
  const block = [
    MARK,
    `[${OUR_TABLE}]`,
    `command = ${JSON.stringify(start.command)}`,
    `args = [${start.args.map((word) => JSON.stringify(word)).join(', ')}]`,
  ]
  return checked(values.value, `${rest}${gap}${block.map((line) => `${line}${lineEnd}`).join('')}`)
}

/** Takes our table out with the tables below it, which mean nothing without it. Codex may have added some to a server. */
export const withoutTomlServer = (text: string): Result<string, TextProblem> => {
  const values = valuesIn(text)
  if (!values.ok) return values
  const there = serverOf(values.value, text)
  return there === undefined || there === 'foreign' ? ok(text) : checked(values.value, withoutTables(text))
}

const withoutTables = (text: string): string => {
  const lines = linesOf(text)
  const ours = tablesIn(lines).filter(({ name }) => name === OUR_TABLE || name.startsWith(`${OUR_TABLE}.`))
  const isGone = (line: number): boolean => ours.some(({ from, to }) => line >= from && line < to)
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
