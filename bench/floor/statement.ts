/** A statement with named parameters, compiled once, so that it can be a named prepared statement. */
export interface Statement<Name extends string = string> {
  readonly name: string
  readonly text: string
  readonly parameters: readonly Name[]
}

/** Runs a statement on an engine. */
export type Run = (name: string, text: string, values: unknown[]) => Promise<readonly Record<string, unknown>[]>

/** Writes `:name` as `$1::type`. Every name used must be given a type, and every one given must be used. */
export const statement = <Name extends string>(
  name: string,
  types: Readonly<Record<Name, string>>,
  text: string,
): Statement<Name> => {
  const parameters = Object.keys(types) as Name[]
  const isKnown = (used: string): used is Name => Object.hasOwn(types, used)
  const numbered = text.replaceAll(/(?<!:):([a-z_]\w*)/g, (_, used: string) => {
    if (!isKnown(used)) throw new Error(`${name} uses :${used}, which has no type`)
    return `$${parameters.indexOf(used) + 1}::${types[used]}`
  })
  return { name, text: numbered, parameters }
}

/** Runs a guarded write, which answers with one row or was overtaken. */
export const write = async <Name extends string>(
  run: Run,
  { name, text, parameters }: Statement<Name>,
  values: Readonly<Record<Name, unknown>>,
): Promise<Record<string, unknown>> => {
  const [row] = await run(
    name,
    text,
    parameters.map((parameter) => values[parameter]),
  )
  if (row === undefined) throw new Error(`${name} found another version than it expected`)
  return row
}
