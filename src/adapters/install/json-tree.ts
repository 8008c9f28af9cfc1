/** A value in a JSON text, with the place where it stands. */
export type JsonNode = JsonObject | JsonArray | JsonScalar

interface Placed {
  readonly start: number
  /** The place after its last character. */
  readonly end: number
}

/** An object: its members in the order of the text. */
export interface JsonObject extends Placed {
  readonly kind: 'object'
  readonly children: readonly JsonMember[]
}

/** A member of an object, from the first character of its key to the last of its value. */
export interface JsonMember extends Placed {
  readonly key: string
  readonly value: JsonNode
}

/** A list. */
export interface JsonArray extends Placed {
  readonly kind: 'array'
  readonly children: readonly JsonNode[]
}

/** A text, number, boolean or null. */
export interface JsonScalar extends Placed {
  readonly kind: 'scalar'
  readonly value: string | number | boolean | null
}

/** The text is no JSON; the message goes on after the name of a file. */
export class JsonProblem extends Error {
  override readonly name = 'JsonProblem'
}

const MOST_NESTING = 200
const BLANK = /[ \t\r\n]*/y
/** Each character can be read in one way only: else a string that is not closed would take time without end. */
const STRING = /"[^"\\\p{Cc}]*(?:(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})|[\u007f-\u009f])[^"\\\p{Cc}]*)*"/uy
const LITERAL = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y

/** Reads a JSON text as it stands. @throws JsonProblem with line and column: a comment, a mistake, or a key that is there twice */
export const parseTree = (text: string): JsonNode => new Parser(text).parse()

class Parser {
  readonly #text: string
  #at: number

  constructor(text: string) {
    this.#text = text
    this.#at = text.startsWith('\uFEFF') ? 1 : 0
  }

  parse(): JsonNode {
    const node = this.#value(0)
    this.#skip()
    if (this.#at < this.#text.length) throw this.#problem('has something after its end')
    return node
  }

  #value(depth: number): JsonNode {
    this.#skip()
    if (depth > MOST_NESTING) throw this.#problem(`is nested deeper than ${MOST_NESTING} levels`)
    const start = this.#at
    const first = this.#text[start]
    if (first === '{') return { kind: 'object', start, children: this.#members(depth), end: this.#at }
    if (first === '[') return { kind: 'array', start, children: this.#items(depth), end: this.#at }
    const written = this.#taken(first === '"' ? STRING : LITERAL)
    if (written === undefined) throw this.#problem('is no JSON')
    return { kind: 'scalar', start, end: this.#at, value: JSON.parse(written) as JsonScalar['value'] }
  }

  #items(depth: number): readonly JsonNode[] {
    const items: JsonNode[] = []
    this.#at += 1
    for (this.#skip(); !this.#takes(']'); this.#between(']')) items.push(this.#value(depth + 1))
    return items
  }

  #members(depth: number): readonly JsonMember[] {
    const members: JsonMember[] = []
    const keys = new Set<string>()
    this.#at += 1
    for (this.#skip(); !this.#takes('}'); this.#between('}')) {
      const start = this.#at
      const written = this.#taken(STRING)
      if (written === undefined) throw this.#problem('is no JSON')
      const key = JSON.parse(written) as string
      if (keys.has(key)) throw this.#problem(`has the key ${JSON.stringify(key)} twice in one object`, start)
      keys.add(key)
      this.#skip()
      if (!this.#takes(':')) throw this.#problem('is no JSON')
      const value = this.#value(depth + 1)
      members.push({ start, end: this.#at, key, value })
    }
    return members
  }

  /** After a value: a comma and something else, or the end. */
  #between(end: string): void {
    this.#skip()
    if (this.#text[this.#at] === end) return
    const comma = this.#at
    if (!this.#takes(',')) throw this.#problem('is no JSON')
    this.#skip()
    if (this.#text[this.#at] === end) throw this.#problem('has a comma too many', comma)
  }

  #takes(character: string): boolean {
    if (this.#text[this.#at] !== character) return false
    this.#at += 1
    return true
  }

  #taken(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const [written] = pattern.exec(this.#text) ?? []
    if (written !== undefined) this.#at += written.length
    return written
  }

  #skip(): void {
    this.#taken(BLANK)
    const [first, second] = this.#text.slice(this.#at, this.#at + 2)
    if (first === '#' || (first === '/' && (second === '/' || second === '*')))
      throw this.#problem('has a comment, which the runtime does not take there: remove it')
  }

  #problem(what: string, at = this.#at): JsonProblem {
    const lines = this.#text.slice(0, at).split('\n')
    return new JsonProblem(`${what} (line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1})`)
  }
}

/** The member of an object with a key. */
export const memberOf = (node: JsonNode | undefined, key: string): JsonMember | undefined =>
  node?.kind === 'object' ? node.children.find((member) => member.key === key) : undefined

/** The text that a node is, or nothing where it is none. */
export const textOf = (node: JsonNode | undefined): string | undefined =>
  node?.kind === 'scalar' && typeof node.value === 'string' ? node.value : undefined
