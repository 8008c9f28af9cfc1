/** The properties of a value that are, or (`false`) are not, among the named ones. */
export const parts = <Part extends object>(
  value: object,
  names: Readonly<Record<string, true>>,
  named: boolean,
): Part => Object.fromEntries(Object.entries(value).filter(([name]) => name in names === named)) as Part
