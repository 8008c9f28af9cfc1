/** A copy of plain data that nobody can change: neither the giver through the original nor a reader through the copy. */
export const frozenCopy = <T>(value: T): T => freeze(structuredClone(value))

const freeze = <T>(value: T): T => {
  if (typeof value === 'object' && value !== null) {
    for (const part of Object.values(value)) freeze(part)
    Object.freeze(value)
  }
  return value
}
