/** The properties of a value that are, or (`false`) are not, among the named ones. */
export const parts = <Part extends object>(
  value: object,
  names: Readonly<Record<string, true>>,
  named: boolean,
): Part => {
  const chosen: Record<string, unknown> = {}
  for (const name of Object.keys(value)) {
    if (name in names === named) chosen[name] = (value as Readonly<Record<string, unknown>>)[name]
  }
  return chosen as Part
}
