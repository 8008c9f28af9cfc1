import type { JsonArray, JsonMember, JsonNode, JsonObject } from './json-tree.ts'

/** A change of a text: the characters from one place to another become others. */
interface Splice {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** How a text is laid out, as far as something new in it has to look the same. */
interface Layout {
  /** One step of indentation; absent where everything stands in one line. */
  readonly unit: string | undefined
  readonly lineEnd: string
  readonly afterColon: string
  readonly afterComma: string
}

const spliced = (text: string, { start, end, text: put }: Splice): string =>
  text.slice(0, start) + put + text.slice(end)

/** Puts a member at the end of an object, laid out as the rest of the text is. */
export const withMember = (text: string, object: JsonObject, key: string, value: unknown): string =>
  withChild(
    text,
    object,
    (level, layout) => `${JSON.stringify(key)}:${layout.afterColon}${rendered(value, level, layout)}`,
  )

/** Puts an item at the end of a list. */
export const withItem = (text: string, list: JsonArray, value: unknown): string =>
  withChild(text, list, (level, layout) => rendered(value, level, layout))

/** Replaces a value. */
export const withValue = (text: string, { start, end }: JsonNode, value: string): string =>
  spliced(text, { start, end, text: value })

/** Takes a member or an item out, with the comma that joins it to its neighbour. */
export const withoutChild = (text: string, container: JsonObject | JsonArray, child: JsonMember | JsonNode): string => {
  const all: readonly (JsonMember | JsonNode)[] = container.children
  const at = all.indexOf(child)
  const [before, after] = [all[at - 1], all[at + 1]]
  if (before !== undefined) return spliced(text, { start: before.end, end: child.end, text: '' })
  if (after !== undefined) return spliced(text, { start: child.start, end: after.start, text: '' })
  return spliced(text, { start: container.start + 1, end: container.end - 1, text: '' })
}

const withChild = (
  text: string,
  container: JsonObject | JsonArray,
  render: (indent: string, layout: Layout) => string,
): string => {
  const last = container.children.at(-1)
  const layout = layoutOf(text)
  if (last === undefined) {
    const outer = indentAt(text, container.start)
    if (layout.unit === undefined) return spliced(text, { ...inner(container), text: render('', layout) })
    const indent = outer + layout.unit
    const { lineEnd } = layout
    return spliced(text, {
      ...inner(container),
      text: `${lineEnd}${indent}${render(indent, layout)}${lineEnd}${outer}`,
    })
  }
  // A list that stands in one line stays in it.
  if (!ownLine(text, last.start)) {
    const inline = { ...layout, unit: undefined }
    return spliced(text, { start: last.end, end: last.end, text: `,${layout.afterComma}${render('', inline)}` })
  }
  const indent = indentAt(text, last.start)
  return spliced(text, { start: last.end, end: last.end, text: `,${layout.lineEnd}${indent}${render(indent, layout)}` })
}

const inner = ({ start, end }: JsonNode) => ({ start: start + 1, end: end - 1 })

/** The blanks at the beginning of the line in which a place is. */
const indentAt = (text: string, at: number): string => {
  const line = text.slice(text.lastIndexOf('\n', at - 1) + 1, at)
  return /^\uFEFF?([ \t]*)/.exec(line)?.[1] ?? ''
}

/** Whether nothing but blanks stands before a place in its line, and there is a line before. */
const ownLine = (text: string, at: number): boolean => {
  const start = text.lastIndexOf('\n', at - 1)
  return start >= 0 && text.slice(start + 1, at).trim() === ''
}

const layoutOf = (text: string): Layout => {
  const [, lineEnd] = /(\r?\n)/.exec(text) ?? []
  const [, unit] = /\n([ \t]+)\S/.exec(text) ?? []
  const isOneLine = /\S/.test(text.replaceAll(/[{}[\]\uFEFF]/g, '')) && !/\n/.test(text.trim())
  return {
    unit: isOneLine ? undefined : (unit ?? '  '),
    lineEnd: lineEnd ?? '\n',
    afterColon: isOneLine && !/": /.test(text) ? '' : ' ',
    afterComma: isOneLine && !/, /.test(text) && !/": /.test(text) ? '' : ' ',
  }
}

/** A value as text, whose first line stands at an indentation already. */
const rendered = (value: unknown, indent: string, layout: Layout): string => {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const isList = Array.isArray(value)
  const deeper = indent + (layout.unit ?? '')
  const parts = isList
    ? value.map((item) => rendered(item, deeper, layout))
    : Object.entries(value).map(
        ([key, inside]) => `${JSON.stringify(key)}:${layout.afterColon}${rendered(inside, deeper, layout)}`,
      )
  const [open, close] = isList ? '[]' : '{}'
  if (parts.length === 0) return `${open}${close}`
  if (layout.unit === undefined) return `${open}${parts.join(`,${layout.afterComma}`)}${close}`
  const { lineEnd } = layout
  return `${open}${lineEnd}${deeper}${parts.join(`,${lineEnd}${deeper}`)}${lineEnd}${indent}${close}`
}
