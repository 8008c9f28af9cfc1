/**
 * A template with its placeholders filled in, literally. In one pass and by a function: what was put in is never looked
 * at again, `$&` in it means nothing, and anything else in braces stays as it is.
 */
export const fill = (template: string, values: Readonly<Record<string, string>>): string =>
  template.replaceAll(/\{([a-z_]+)\}/g, (whole, name: string) =>
    Object.hasOwn(values, name) ? (values[name] ?? whole) : whole,
  )
