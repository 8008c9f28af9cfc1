/** Nothing we store is nearly as deep; a caller's object that is has a cycle, or means no good. */
const MAX_DEPTH = 64

/** Gives the text to write instead of a property's value; `undefined` writes the value as it is. */
export type Rewrite = (name: string, value: unknown) => string | undefined

const asItIs: Rewrite = () => undefined

/** JSON text that is the same for the same data: keys in order, absent and undefined alike. */
export const canonicalJson = (value: unknown, rewrite: Rewrite = asItIs): string =>
  written(value, rewrite, MAX_DEPTH) ?? 'null'

// Plain loops: this runs several times for every command.
const written = (value: unknown, rewrite: Rewrite, depth: number): string | undefined => {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (depth === 0) throw new TypeError(`Data nested deeper than ${MAX_DEPTH} levels cannot be stored`)
  return Array.isArray(value)
    ? writtenList(value, rewrite, depth - 1)
    : writtenObject(value as Record<string, unknown>, rewrite, depth - 1)
}

const writtenList = (list: readonly unknown[], rewrite: Rewrite, depth: number): string => {
  let text = ''
  for (const item of list) text += `${text === '' ? '' : ','}${written(item, rewrite, depth) ?? 'null'}`
  return `[${text}]`
}

const writtenObject = (value: Readonly<Record<string, unknown>>, rewrite: Rewrite, depth: number): string => {
  let text = ''
  for (const name of inOrder(Object.keys(value))) {
    const raw = value[name]
    const instead = rewrite(name, raw)
    const part = instead === undefined ? written(raw, rewrite, depth) : JSON.stringify(instead)
    if (part !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${part}`
  }
  return `{${text}}`
}

/** Most of our objects are written in order, and looking costs less than sorting. */
const inOrder = (names: string[]): readonly string[] => {
  let before = ''
  for (const name of names) {
    if (name < before) return names.sort()
    before = name
  }
  return names
}
