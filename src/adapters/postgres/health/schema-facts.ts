/** The kinds of things in a schema. */
export type SchemaKind =
  | 'domain'
  | 'table'
  | 'column'
  | 'constraint'
  | 'index'
  | 'trigger'
  | 'function'
  /** A view, a sequence: nothing of ours. */
  | 'other'

/** One thing in a schema, as the catalogue describes it. */
export interface SchemaFact {
  readonly kind: SchemaKind
  /** The table it belongs to; its own name where it belongs to none. */
  readonly table: string
  readonly name: string
  /** Everything but its name; two that say the same are the same. */
  readonly definition: string
}

/** Things by their kind, table and name. */
export type SchemaFacts = ReadonlyMap<string, SchemaFact>

/** The shapes of lines, by how they begin. A line with none of them continues the one before it. */
const SHAPES: readonly (readonly [SchemaKind, RegExp])[] = [
  ['table', /^table (\S+)()/],
  ['domain', /^domain (\S+) (.*)$/s],
  ['function', /^function ([^\s(]+\(.*?\) returns) (.*)$/s],
  ['column', /^ {2}column (\S+) (.*)$/s],
  ['constraint', /^ {2}constraint (\S+) (.*)$/s],
  ['index', /^ {2}((?:UNIQUE )?INDEX \S+) (.*)$/s],
  ['trigger', /^ {2}trigger ((?:CREATE CONSTRAINT TRIGGER )?\S+) (.*)$/s],
  ['other', /^([a-zA-Z] \S+)()$/],
]

const BEGINS = /^(#|$|table |domain |function |[a-zA-Z] \S+$| {2}(column|constraint|trigger|INDEX|UNIQUE INDEX) )/

/** Reads lines as `schemaLines` makes them and as the snapshot has them. Comments are left out: nothing depends on them. */
export const schemaFacts = (text: string): SchemaFacts => {
  const facts = new Map<string, SchemaFact>()
  let table = ''
  for (const line of wholeLines(text)) {
    const fact = factIn(line, table)
    if (fact === undefined) continue
    if (fact.kind === 'table') table = fact.name
    facts.set(`${fact.kind} ${fact.table} ${fact.name}`, fact)
  }
  return facts
}

const wholeLines = (text: string): readonly string[] => {
  const lines: string[] = []
  for (const line of text.split('\n'))
    if (BEGINS.test(line) || lines.length === 0) lines.push(line)
    else lines.push(`${lines.pop()}\n${line}`)
  return lines
}

const factIn = (line: string, table: string): SchemaFact | undefined => {
  const [statement = ''] = line.split(' -- ')
  for (const [kind, shape] of SHAPES) {
    const [, name, definition = ''] = shape.exec(statement) ?? []
    if (name === undefined) continue
    const isOwn = kind === 'table' || kind === 'domain' || kind === 'function' || kind === 'other'
    return { kind, table: isOwn ? name : table, name: nameIn(name), definition: definitionIn(kind, name, definition) }
  }
  return undefined
}

/** Without the words that the catalogue writes before it. */
const nameIn = (text: string): string => text.replace(/^(UNIQUE INDEX|INDEX|CREATE CONSTRAINT TRIGGER) | returns$/g, '')

/** The words before a name belong to what it is. */
const definitionIn = (kind: SchemaKind, name: string, rest: string): string =>
  kind === 'index' || kind === 'trigger' ? `${name} ${rest}` : rest
