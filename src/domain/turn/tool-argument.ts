import { withoutLastWord } from '../kernel/cut-words.ts'

/** Enough to tell one use of a tool from the next; what is longer is cut. */
const MAX_ARGUMENT_LENGTH = 240

/** As much of an input as is looked at: a redactor sees it before it is cut to its final length. */
const MOST_READ = 2_000

/** Where tools put what they are about, the most telling first. */
const TELLING = [
  ...['command', 'cmd', 'script', 'file_path', 'notebook_path', 'pattern', 'query', 'url', 'path', 'paths', 'filename'],
  ...['changes', 'action', 'subject', 'description', 'prompt', 'name', 'input', 'code'],
] as const

/** The line of a patch that names a file. */
const PATCHED = /^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm

/** A shell that is given a line: the line is what was called. */
const SHELL = /^(?:\/\S*\/)?(?:ba|z|da|k)?sh$/

/**
 * The part of a tool's input that tells one use of the tool from another, on one line: the command of a shell, the path of
 * an edit, the pattern of a search. Nothing when the input says nothing.
 */
export const argumentIn = (input: unknown): string | undefined => {
  const part = tellingPart(input, 3) ?? ''
  const line = oneLine(part.length > MOST_READ ? wholeWords(part.slice(0, MOST_READ)) : part)
  return line === '' ? undefined : line
}

/** Half of a key is not known for one. A single word without end has the beginning of its key in it, and stays. */
const wholeWords = (text: string): string => {
  const whole = withoutLastWord(text)
  return whole.trim() === '' ? text : whole
}

/** An argument as it is kept: one line, and no longer than it may be. One that was kept before stays as it is. */
export const keptArgument = (argument: string): string => {
  const line = oneLine(argument)
  return line.length <= MAX_ARGUMENT_LENGTH ? line : `${whole(line.slice(0, MAX_ARGUMENT_LENGTH - 1))}…`
}

const oneLine = (text: string): string =>
  whole(text.slice(0, MOST_READ))
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()

/** Not half of a character that takes two units. */
const whole = (text: string): string => text.replace(/[\uD800-\uDBFF]$/, '')

const tellingPart = (input: unknown, depth: number): string | undefined => {
  if (typeof input === 'string') return patchedFiles(input) ?? input
  if (typeof input !== 'object' || input === null || depth === 0) return undefined
  if (Array.isArray(input)) return tellingList(input, depth)
  const named = input as Readonly<Record<string, unknown>>
  for (const key of [...TELLING, ...Object.keys(named).slice(0, 20)]) {
    const part = Object.hasOwn(named, key) ? tellingPart(named[key], depth - 1) : undefined
    if (part !== undefined && part.trim() !== '') return part
  }
  return undefined
}

const tellingList = (list: readonly unknown[], depth: number): string | undefined => {
  const words = list.slice(0, 20).flatMap((item) => tellingPart(item, depth - 1) ?? [])
  const [program = '', option = '', line] = words
  if (line !== undefined && SHELL.test(program) && /^-\w*c$/.test(option)) return line
  const isCommand = list.every((item) => typeof item === 'string')
  return words.join(isCommand ? ' ' : ', ')
}

const patchedFiles = (text: string): string | undefined => {
  if (!text.startsWith('*** Begin Patch')) return undefined
  const files = [...text.slice(0, 100_000).matchAll(PATCHED)].map(({ 1: file = '' }) => file.trim())
  return files.length === 0 ? undefined : files.join(', ')
}
