const CONTEXT = 3
/** Texts whose differing part is larger than this are shown as one block: comparing every line with every other takes too long. */
const MOST_CELLS = 4_000_000

interface Line {
  readonly sign: ' ' | '-' | '+'
  readonly text: string
}

/** The difference between two texts, as `diff -u` writes it. An absent text is a file that is not there. */
export const unifiedDiff = (file: string, before: string | undefined, after: string | undefined): readonly string[] => {
  if (before === after) return []
  const lines = compared(linesOf(before ?? ''), linesOf(after ?? ''))
  const name = (text: string | undefined): string => (text === undefined ? '/dev/null' : file)
  return [`--- ${name(before)}`, `+++ ${name(after)}`, ...hunksOf(lines)]
}

/** Lines with their ends. */
const linesOf = (text: string): readonly string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? []

const compared = (before: readonly string[], after: readonly string[]): readonly Line[] => {
  let head = 0
  while (head < Math.min(before.length, after.length) && before[head] === after[head]) head += 1
  let tail = 0
  const most = Math.min(before.length, after.length) - head
  while (tail < most && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1
  const unchanged = (text: string): Line => ({ sign: ' ', text })
  const [old, fresh] = [before.slice(head, before.length - tail), after.slice(head, after.length - tail)]
  return [
    ...before.slice(0, head).map(unchanged),
    ...different(old, fresh),
    ...before.slice(before.length - tail).map(unchanged),
  ]
}

const different = (old: readonly string[], fresh: readonly string[]): readonly Line[] => {
  const [removed, added] = [old, fresh].map((lines, at) =>
    lines.map((text): Line => ({ sign: at === 0 ? '-' : '+', text })),
  ) as [Line[], Line[]]
  if (old.length === 0 || fresh.length === 0 || old.length * fresh.length > MOST_CELLS) return [...removed, ...added]
  const lengths = commonLengths(old, fresh)
  const lines: Line[] = []
  let [at, to] = [0, 0]
  const width = fresh.length + 1
  while (at < old.length || to < fresh.length) {
    const [text, other] = [old[at], fresh[to]]
    if (text !== undefined && text === other) {
      lines.push({ sign: ' ', text })
      at += 1
      to += 1
    } else if (text !== undefined && (lengths[(at + 1) * width + to] ?? 0) >= (lengths[at * width + to + 1] ?? 0)) {
      lines.push({ sign: '-', text })
      at += 1
    } else {
      lines.push({ sign: '+', text: other ?? '' })
      to += 1
    }
  }
  return lines
}

/** For every pair of places: how many lines the rests have in common. */
const commonLengths = (old: readonly string[], fresh: readonly string[]): Uint32Array => {
  const width = fresh.length + 1
  const lengths = new Uint32Array((old.length + 1) * width)
  for (let at = old.length - 1; at >= 0; at -= 1)
    for (let to = fresh.length - 1; to >= 0; to -= 1)
      lengths[at * width + to] =
        old[at] === fresh[to]
          ? (lengths[(at + 1) * width + to + 1] ?? 0) + 1
          : Math.max(lengths[(at + 1) * width + to] ?? 0, lengths[at * width + to + 1] ?? 0)
  return lengths
}

const hunksOf = (lines: readonly Line[]): readonly string[] => {
  const changes = lines.flatMap(({ sign }, at) => (sign === ' ' ? [] : [at]))
  const spans: { from: number; to: number }[] = []
  for (const at of changes) {
    const last = spans.at(-1)
    if (last !== undefined && at - last.to <= 2 * CONTEXT) last.to = at + 1
    else spans.push({ from: at, to: at + 1 })
  }
  return spans.flatMap(({ from, to }) => hunk(lines, Math.max(0, from - CONTEXT), Math.min(lines.length, to + CONTEXT)))
}

const hunk = (lines: readonly Line[], from: number, to: number): readonly string[] => {
  const count = (part: readonly Line[], sign: '-' | '+'): number =>
    part.filter((line) => line.sign === ' ' || line.sign === sign).length
  const [above, here] = [lines.slice(0, from), lines.slice(from, to)]
  const range = (sign: '-' | '+'): string => {
    const length = count(here, sign)
    return `${sign}${count(above, sign) + (length === 0 ? 0 : 1)},${length}`
  }
  return [`@@ ${range('-')} ${range('+')} @@`, ...here.flatMap(shown)]
}

const shown = ({ sign, text }: Line): readonly string[] =>
  text.endsWith('\n') ? [`${sign}${text.slice(0, -1)}`] : [`${sign}${text}`, '\\ No newline at end of file']
