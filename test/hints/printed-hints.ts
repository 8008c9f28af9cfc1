import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAst } from 'vitest/node'
import { CLI_COMMANDS } from '../../src/adapters/cli/tree/index.ts'

/** A command for a person, as it stands in a string of the sources. What is filled in when it is printed is `…`. */
export interface PrintedHint {
  /** The file, from `src`. */
  readonly file: string
  readonly command: string
}

/** Any part of a syntax tree. */
type Part = Readonly<Record<string, unknown>> & { readonly type: string }

const isPart = (value: unknown): value is Part =>
  typeof value === 'object' && value !== null && typeof (value as Part).type === 'string'

/** The texts of a program: literals and templates, and those that are put together with `+` as one. */
const textsIn = (value: unknown): readonly string[] => {
  if (Array.isArray(value)) return value.flatMap(textsIn)
  if (!isPart(value)) return []
  const text = textOf(value)
  const inside = value.type === 'TemplateLiteral' ? value.expressions : text === undefined ? Object.values(value) : []
  return [...(text === undefined ? [] : [text]), ...textsIn(inside)]
}

const textOf = (part: Part): string | undefined => {
  if (part.type === 'Literal') return typeof part.value === 'string' ? part.value : undefined
  if (part.type === 'TemplateLiteral')
    return (part.quasis as readonly { readonly value: { readonly cooked: string } }[])
      .map(({ value }) => value.cooked)
      .join('…')
  if (part.type !== 'BinaryExpression' || part.operator !== '+') return undefined
  const [left, right] = [part.left, part.right].map((side) => (isPart(side) ? textOf(side) : undefined))
  return left === undefined && right === undefined ? undefined : `${left ?? '…'}${right ?? '…'}`
}

const FIRST_WORDS = [...new Set(Object.keys(CLI_COMMANDS).map((name) => name.split(' ')[0])), 'help'].join('|')

/** A command ends with the quotation mark before it, or with its sentence. */
const COMMAND = new RegExp(`(["\`(]?)\\bbaton (?:${FIRST_WORDS})\\b[^"\`\\n]*`, 'g')

/** The commands that a text names. */
export const commandsIn = (text: string): readonly string[] =>
  [...text.matchAll(COMMAND)].map(([found, mark = '']) => {
    const command = found.slice(mark.length)
    if (mark === '(') return command.replace(/\).*$/, '')
    return mark === '' ? command.replace(/(?:[.;:,](?: .*)?| \|.*)$/, '').trim() : command
  })

/** Every command that a string of the sources names. */
export const printedHints = (): readonly PrintedHint[] =>
  readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .flatMap((file) => {
      const program: unknown = parseAst(readFileSync(join('src', file), 'utf8'), { lang: 'ts' })
      return [...new Set(textsIn((program as Part).body).flatMap(commandsIn))].map((command) => ({ file, command }))
    })

/** Whether a command is printed with something in place of a part of it, or the person puts something there. */
export const isFilledIn = (command: string): boolean => /…|\b(?:FILE|ID|PROMPT|NAME|DIR)\b/.test(command)
