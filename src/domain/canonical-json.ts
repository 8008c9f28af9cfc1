/** JSON text that is the same for the same data: keys in order, absent and undefined alike. */
export const canonicalJson = (value: unknown): string => JSON.stringify(ordered(value)) ?? 'null'

const ordered = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(ordered)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, part]) => [name, ordered(part)]),
  )
}
