import { nearestWord } from './nearest-word.ts'

type KeyOf<T> = T extends unknown ? keyof T & string : never

/**
 * The names that an object of options may have: `true`, or the names of the object or the list under it. A property that is
 * forgotten here does not compile.
 */
export type KnownNames<T> = { readonly [Name in KeyOf<T>]: true | NestedNames }

/** Names below a name. */
export interface NestedNames {
  readonly [name: string]: true | NestedNames
}

/** A name that is not known, and the advice about it. */
export interface UnknownName {
  /** Its place, such as `runs.fanOut.maxOpn`. */
  readonly path: string
  readonly advice: string
}

/** The names among these options that nobody knows. A misspelt option would otherwise be one that is not there. */
export const unknownNames = (options: unknown, known: NestedNames, path = ''): readonly UnknownName[] => {
  if (Array.isArray(options)) return options.flatMap((one, index) => unknownNames(one, known, `${path}[${index}]`))
  // Whatever else is given in its place is looked at by those who use it.
  if (typeof options !== 'object' || options === null) return []
  return Object.keys(options).flatMap((name) => {
    const here = path === '' ? name : `${path}.${name}`
    const below = Object.hasOwn(known, name) ? known[name] : undefined
    if (below === undefined) return [{ path: here, advice: adviceOn(name, Object.keys(known)) }]
    return below === true ? [] : unknownNames(options[name as keyof typeof options], below, here)
  })
}

const adviceOn = (name: string, known: readonly string[]): string => {
  const nearest = nearestWord(name, known)
  return nearest === undefined ? `Known are: ${known.join(', ')}.` : `Did you mean "${nearest}"?`
}
