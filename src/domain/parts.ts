/** The properties of a value that are, or (`false`) are not, among the named ones. */
export const parts = <Part extends object>(
  value: object,
  names: Readonly<Record<string, true>>,
  named: boolean,
): Part => {
  const chosen: Record<string, unknown> = {}
  for (const [name, part] of Object.entries(value)) if (name in names === named) chosen[name] = part
  return chosen as Part
}
