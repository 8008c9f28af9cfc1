type OptionalKeys<T> = { [K in keyof T]-?: undefined extends T[K] ? K : never }[keyof T]

/** The same object type with `T | undefined` properties turned into optional ones. */
export type Defined<T> = { [K in keyof T as K extends OptionalKeys<T> ? never : K]: T[K] } & {
  [K in OptionalKeys<T>]?: Exclude<T[K], undefined>
}

/** Drops properties that are undefined: an absent fact is absent, in memory as in JSON and in a row. */
export const defined = <T extends object>(value: T): Defined<T> => {
  const present: Record<string, unknown> = {}
  for (const name of Object.keys(value)) {
    const part = value[name as keyof T]
    if (part !== undefined) present[name] = part
  }
  return present as Defined<T>
}
