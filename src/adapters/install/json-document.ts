import {
  createScanner,
  findNodeAtLocation,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser'
import { ok, type Result } from '../../domain/kernel/result.ts'
import { withMember, withoutChild } from './json-edit.ts'
import { type TextProblem, wrong } from './refusal.ts'

/** A value in a JSON text, with the place where it stands. */
export type JsonNode = Node

/** The way to a value from the root, key by key. */
export type JsonPath = readonly string[]

/** A JSON text that is edited in place, and the containers that had to be made for it. */
export interface JsonDocument {
  readonly text: string
  readonly root: JsonNode
  readonly made: readonly JsonPath[]
}

const EMPTY = '{}\n'
const MOST_NESTING = 200

/** Reads a text whose root has to be an object. One without anything in it counts as an empty object. */
export const jsonDocument = (text: string): Result<JsonDocument, TextProblem> => {
  const given = text.replace(/^\uFEFF/, '').trim() === '' ? EMPTY : text
  const read = readTree(given)
  if (!read.ok) return read
  if (read.value.type !== 'object') return wrong('is no JSON object', 'settings.unexpected_shape')
  return ok({ text: given, root: read.value, made: [] })
}

/** Reads a text as it stands: JSON without comments, without a comma too many, and without a key that is there twice. */
const readTree = (marked: string): Result<JsonNode, TextProblem> => {
  // A blank in the place of the mark of order: every other character stays where it is.
  const text = marked.replace(/^\uFEFF/, ' ')
  const deep = tooDeepAt(text)
  if (deep !== undefined) return problemAt(text, deep, `is nested deeper than ${MOST_NESTING} levels`)
  const errors: ParseError[] = []
  const root = parseTree(text, errors, { disallowComments: true })
  const [first] = errors
  if (first !== undefined || root === undefined) return mistake(text, first)
  const twice = repeatedKeyIn(root)
  if (twice === undefined) return ok(root)
  return problemAt(text, twice.offset, `has the key ${JSON.stringify(twice.value)} twice in one object`)
}

/** Where a text is nested too deep. The parser calls itself for each level, so it must not see such a text. */
const tooDeepAt = (text: string): number | undefined => {
  const scanner = createScanner(text, true)
  for (let depth = 0; ; ) {
    scanner.scan()
    const at = scanner.getTokenOffset()
    const first = text[at]
    if (first === undefined) return undefined
    if ('{['.includes(first)) depth += 1
    if ('}]'.includes(first)) depth -= 1
    // The root is level 0.
    if (depth > MOST_NESTING + 1) return at
  }
}

const mistake = (text: string, problem: ParseError | undefined): Result<never, TextProblem> => {
  const at = problem?.offset ?? 0
  const [first, before] = [text[at] ?? '', text.slice(0, at).trimEnd()]
  if (first === '#' || (problem !== undefined && printParseErrorCode(problem.error) === 'InvalidCommentToken'))
    return problemAt(text, at, 'has a comment, which the runtime does not take there: remove it')
  if ((first === '}' || first === ']') && before.endsWith(','))
    return problemAt(text, before.length - 1, 'has a comma too many')
  return problemAt(text, at, 'is no JSON')
}

const problemAt = (text: string, at: number, problem: string): Result<never, TextProblem> => {
  const lines = text.slice(0, at).split('\n')
  return wrong(`${problem} (line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1})`)
}

/** The first key that an object has for the second time. */
const repeatedKeyIn = ({ type, children = [] }: JsonNode): JsonNode | undefined => {
  const keys = new Set<unknown>()
  for (const child of children) {
    const [key] = type === 'object' ? (child.children ?? []) : []
    if (key !== undefined && keys.has(key.value)) return key
    keys.add(key?.value)
    const inside = repeatedKeyIn(child)
    if (inside !== undefined) return inside
  }
  return undefined
}

/** The document with another text. */
export const changed = (document: JsonDocument, text: string, made: readonly JsonPath[] = []): JsonDocument => {
  const read = jsonDocument(text)
  if (!read.ok) throw new Error('An edit made something else of an object')
  return { ...read.value, made: [...document.made, ...made] }
}

/** The value at the end of a path from another value. */
export const valueAt = (node: JsonNode | undefined, path: JsonPath): JsonNode | undefined =>
  node && findNodeAtLocation(node, [...path])

/** The members of an object, in the order of the text; none where it is no object. */
export const membersOf = (node: JsonNode | undefined): readonly { readonly key: string; readonly value: JsonNode }[] =>
  node?.type === 'object'
    ? (node.children ?? []).flatMap(({ children: [key, value] = [] }) =>
        key === undefined || value === undefined ? [] : [{ key: key.value as string, value }],
      )
    : []

/** The items of a list; absent where it is no list. */
export const itemsOf = (node: JsonNode | undefined): readonly JsonNode[] | undefined =>
  node?.type === 'array' ? node.children : undefined

/** The text that a node is; absent where it is none. */
export const textOf = (node: JsonNode | undefined): string | undefined =>
  node?.type === 'string' ? (node.value as string) : undefined

/** Makes sure that objects stand at every step of a path. */
export const withObjects = (document: JsonDocument, path: JsonPath): Result<JsonDocument, TextProblem> => {
  let now = document
  for (let length = 1; length <= path.length; length += 1) {
    const here = path.slice(0, length)
    const [node, parent] = [valueAt(now.root, here), valueAt(now.root, here.slice(0, -1))]
    if (node !== undefined && node.type !== 'object') return misshapen(here, 'an object')
    if (node === undefined && parent !== undefined)
      now = changed(now, withMember(now.text, parent, here.at(-1) ?? '', {}), [here])
  }
  return ok(now)
}

/** Says that something in a document has the wrong shape. */
export const misshapen = (path: JsonPath, wanted: string) =>
  wrong(
    `has ${JSON.stringify(path.join('.'))}, which is not ${wanted}: mend it first, the runtime cannot use it either`,
    'settings.unexpected_shape',
  )

/** Whether a container was not there before us. */
export type IsMade = (path: JsonPath) => boolean

/** Knows it from the text that was there before, else from a list, else says yes. */
export const madeBy = (original: JsonDocument | undefined, made: readonly JsonPath[] | undefined): IsMade => {
  if (original !== undefined) return (path) => valueAt(original.root, path) === undefined
  if (made === undefined) return () => true
  return (path) => made.some((one) => one.length === path.length && one.every((key, at) => key === path[at]))
}

/** Removes containers on a path that have become empty and were made for us, from the innermost out. */
export const withoutEmpty = (document: JsonDocument, path: JsonPath, isMade: IsMade): JsonDocument => {
  let now = document
  for (let here = path; here.length > 0; here = here.slice(0, -1)) {
    const node = valueAt(now.root, here)
    if (node?.children?.length !== 0 || !isMade(here)) return now
    now = changed(now, withoutChild(now.text, node))
  }
  return now
}
