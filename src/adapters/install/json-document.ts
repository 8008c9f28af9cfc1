import { ok, type Result } from '../../domain/kernel/result.ts'
import { withMember, withoutChild } from './json-edit.ts'
import { type JsonArray, type JsonNode, type JsonObject, JsonProblem, memberOf, parseTree } from './json-tree.ts'
import { type TextProblem, wrong } from './refusal.ts'

/** The way to a value from the root, key by key. */
export type JsonPath = readonly string[]

/** A JSON text that is edited in place, and the containers that had to be made for it. */
export interface JsonDocument {
  readonly text: string
  readonly root: JsonObject
  readonly made: readonly JsonPath[]
}

const EMPTY = '{}\n'

/** Reads a text whose root has to be an object. One without anything in it counts as an empty object. */
export const jsonDocument = (text: string): Result<JsonDocument, TextProblem> => {
  const given = text.replace(/^\uFEFF/, '').trim() === '' ? EMPTY : text
  try {
    const root = parseTree(given)
    if (root.kind !== 'object') return wrong('is no JSON object', 'settings.unexpected_shape')
    return ok({ text: given, root, made: [] })
  } catch (problem) {
    if (problem instanceof JsonProblem) return wrong(problem.message)
    throw problem
  }
}

/** The document with another text. */
export const changed = (document: JsonDocument, text: string, made: readonly JsonPath[] = []): JsonDocument => {
  const root = parseTree(text)
  if (root.kind !== 'object') throw new Error('An edit made something else of an object')
  return { text, root, made: [...document.made, ...made] }
}

/** The value at the end of a path. */
export const nodeAt = (document: JsonDocument, path: JsonPath): JsonNode | undefined =>
  path.reduce<JsonNode | undefined>((node, key) => memberOf(node, key)?.value, document.root)

/** Makes sure that objects stand at every step of a path. */
export const withObjects = (document: JsonDocument, path: JsonPath): Result<JsonDocument, TextProblem> => {
  let now = document
  for (let length = 1; length <= path.length; length += 1) {
    const [here, above] = [path.slice(0, length), path.slice(0, length - 1)]
    const [node, parent] = [nodeAt(now, here), nodeAt(now, above)]
    if (node !== undefined && node.kind !== 'object') return misshapen(here, 'an object')
    if (node === undefined && parent?.kind === 'object')
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
  if (original !== undefined) return (path) => nodeAt(original, path) === undefined
  if (made === undefined) return () => true
  return (path) => made.some((one) => one.length === path.length && one.every((key, at) => key === path[at]))
}

/** Removes containers on a path that have become empty and were made for us, from the innermost out. */
export const withoutEmpty = (document: JsonDocument, path: JsonPath, isMade: IsMade): JsonDocument => {
  let now = document
  for (let here = path; here.length > 0; here = here.slice(0, -1)) {
    const [node, parent] = [nodeAt(now, here), nodeAt(now, here.slice(0, -1))]
    if (!isEmpty(node) || !isMade(here)) return now
    const member = memberOf(parent, here.at(-1) ?? '')
    if (parent?.kind !== 'object' || member === undefined) return now
    now = changed(now, withoutChild(now.text, parent, member))
  }
  return now
}

const isEmpty = (node: JsonNode | undefined): node is JsonObject | JsonArray =>
  node !== undefined && node.kind !== 'scalar' && node.children.length === 0
