/** JSON text that is the same for the same data: keys in order, absent and undefined alike. */
export const canonicalJson = (value: unknown): string => written(value, MAX_DEPTH) ?? 'null'

/** Nothing we store is nearly as deep; a caller's object that is has a cycle, or means no good. */
const MAX_DEPTH = 64

const written = (value: unknown, depth: number): string | undefined => {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (depth === 0) throw new TypeError(`Data nested deeper than ${MAX_DEPTH} levels cannot be stored`)
  if (Array.isArray(value)) return `[${value.map((item) => written(item, depth - 1) ?? 'null').join(',')}]`
  const parts = Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, part]) => {
      const text = written(part, depth - 1)
      return text === undefined ? [] : [`${JSON.stringify(name)}:${text}`]
    })
  return `{${parts.join(',')}}`
}
