/** Nothing we store is nearly as deep; a caller's object that is has a cycle, or means no good. */
const MAX_DEPTH = 64

/** JSON text that is the same for the same data: keys in order, absent and undefined alike. */
export const canonicalJson = (value: unknown): string => written(value, MAX_DEPTH) ?? 'null'

// Plain loops: this runs several times for every command.
const written = (value: unknown, depth: number): string | undefined => {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (depth === 0) throw new TypeError(`Data nested deeper than ${MAX_DEPTH} levels cannot be stored`)
  return Array.isArray(value)
    ? writtenList(value, depth - 1)
    : writtenObject(value as Record<string, unknown>, depth - 1)
}

const writtenList = (list: readonly unknown[], depth: number): string => {
  let text = ''
  for (const item of list) text += `${text === '' ? '' : ','}${written(item, depth) ?? 'null'}`
  return `[${text}]`
}

const writtenObject = (value: Readonly<Record<string, unknown>>, depth: number): string => {
  let text = ''
  for (const name of Object.keys(value).sort()) {
    const part = written(value[name], depth)
    if (part !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${part}`
  }
  return `{${text}}`
}
