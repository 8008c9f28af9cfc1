import type { Node } from 'jsonc-parser'

/** How a text is laid out, as far as something new in it has to look the same. */
interface Layout {
  /** One step of indentation; absent where everything stands in one line. */
  readonly unit: string | undefined
  readonly lineEnd: string
  readonly afterColon: string
  readonly afterComma: string
}

/** A new member or item as text, whose first line stands at an indentation already. */
type Render = (indent: string, layout: Layout) => string

const spliced = (text: string, start: number, end: number, put: string): string =>
  text.slice(0, start) + put + text.slice(end)

const endOf = ({ offset, length }: Node): number => offset + length

/** Puts a member at the end of an object, laid out as the rest of the text is. */
export const withMember = (text: string, object: Node, key: string, value: unknown): string =>
  withChild(
    text,
    object,
    (indent, layout) => `${JSON.stringify(key)}:${layout.afterColon}${rendered(value, indent, layout)}`,
  )

/** Puts an item at the end of a list. */
export const withItem = (text: string, list: Node, value: unknown): string =>
  withChild(text, list, (indent, layout) => rendered(value, indent, layout))

/** Replaces a value. */
export const withValue = (text: string, node: Node, value: string): string =>
  spliced(text, node.offset, endOf(node), value)

/** Takes an item, or a value and its key, out of its container, with the comma that joins it to its neighbour. */
export const withoutChild = (text: string, value: Node): string => {
  const child = value.parent?.type === 'property' ? value.parent : value
  const container = child.parent
  if (container === undefined) return text
  const all = container.children ?? []
  const at = all.indexOf(child)
  const [before, after] = [all[at - 1], all[at + 1]]
  if (before !== undefined) return spliced(text, endOf(before), endOf(child), '')
  if (after !== undefined) return spliced(text, child.offset, after.offset, '')
  return withInner(text, container, '')
}

const withInner = (text: string, container: Node, inner: string): string =>
  spliced(text, container.offset + 1, endOf(container) - 1, inner)

const withChild = (text: string, container: Node, render: Render): string => {
  const last = container.children?.at(-1)
  const layout = layoutOf(text)
  const { unit, lineEnd, afterComma } = layout
  if (last === undefined) {
    const outer = indentAt(text, container.offset)
    if (unit === undefined) return withInner(text, container, render('', layout))
    return withInner(text, container, `${lineEnd}${outer}${unit}${render(outer + unit, layout)}${lineEnd}${outer}`)
  }
  const end = endOf(last)
  // A list that stands in one line stays in it.
  if (!ownLine(text, last.offset))
    return spliced(text, end, end, `,${afterComma}${render('', { ...layout, unit: undefined })}`)
  const indent = indentAt(text, last.offset)
  return spliced(text, end, end, `,${lineEnd}${indent}${render(indent, layout)}`)
}

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

const rendered = (value: unknown, indent: string, { unit, lineEnd, afterColon, afterComma }: Layout): string => {
  const lines = JSON.stringify(value, null, '\t').split('\n')
  if (unit !== undefined)
    return lines.map((line) => line.replace(/^\t*/, (tabs) => unit.repeat(tabs.length))).join(lineEnd + indent)
  // In one line: each line of ours without its blanks, and with the blanks after a key and a comma that the text has.
  return lines
    .map((line) =>
      line
        .trim()
        .replace(/^("(?:[^"\\]|\\.)*":) /, `$1${afterColon}`)
        .replace(/,$/, `,${afterComma}`),
    )
    .join('')
}
