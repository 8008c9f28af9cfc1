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
export const unknownNames = (options: unknown, names: NestedNames, path = ''): readonly UnknownName[] => {
  if (Array.isArray(options)) return options.flatMap((one, index) => unknownNames(one, names, `${path}[${index}]`))
  // A value of another kind is checked where it is used.
  if (typeof options !== 'object' || options === null) return []
  return Object.keys(options).flatMap((name) => {
    const here = path === '' ? name : `${path}.${name}`
    const below = Object.hasOwn(names, name) ? names[name] : undefined
    if (below === undefined) return [{ path: here, advice: adviceOn(name, Object.keys(names)) }]
    return below === true ? [] : unknownNames(options[name as keyof typeof options], below, here)
  })
}

const adviceOn = (name: string, names: readonly string[]): string => {
  const nearest = nearestWord(name, names)
  return nearest === undefined ? `Known are: ${names.join(', ')}.` : `Did you mean "${nearest}"?`
}
