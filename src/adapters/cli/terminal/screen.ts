import { forTerminal } from '../../../domain/kernel/safe-text.ts'
import { cut, widthOf } from '../../../domain/kernel/text-width.ts'
import type { Invocation } from '../invocation/invocation.ts'
import type { Screen, Span } from '../invocation/output.ts'
import { coloured, usesColour } from './style.ts'

/** The part of a stream that a screen needs. */
export interface ScreenStream {
  readonly columns?: number
  readonly rows?: number
  write(text: string): unknown
}

const ENTER = '\u001b[?1049h\u001b[?25l'
const LEAVE = '\u001b[?25h\u001b[?1049l'
const HOME = '\u001b[H'
const CLEAR_REST_OF_LINE = '\u001b[K'
const CLEAR_BELOW = '\u001b[J'

/** A screen that is put back when it is left, and at the latest when the process ends. */
export const screenOn = (stream: ScreenStream, environment: Invocation['environment']): Screen => {
  const hasColour = usesColour(environment, true)
  let isOpen = true
  const leave = (): void => {
    if (!isOpen) return
    isOpen = false
    process.off('exit', leave)
    stream.write(LEAVE)
  }
  process.on('exit', leave)
  stream.write(ENTER)
  const draw = (lines: readonly (readonly Span[])[]): void => {
    if (!isOpen) return
    const [columns, rows] = [stream.columns || 80, stream.rows || 24]
    // A line that is as wide as the screen would leave the cursor in the next one on some terminals.
    const shown = lines.length > rows ? [...lines.slice(0, rows - 1), more(lines.length - rows + 1)] : lines
    const texts = shown.map((line) => {
      const parts = fittedSpans(line, columns - 1)
      const text = parts.map(({ text: part, style }) => coloured(forTerminal(part), hasColour ? style : undefined))
      return `${text.join('')}${CLEAR_REST_OF_LINE}`
    })
    stream.write(`${HOME}${texts.join('\r\n')}${CLEAR_BELOW}`)
  }
  return { draw, leave }
}

const more = (count: number): readonly Span[] => [{ text: `… ${count} more lines; the terminal is too low for them` }]

/** As much of a line as there is room for. */
const fittedSpans = (line: readonly Span[], width: number): readonly Span[] => {
  const parts: Span[] = []
  let left = width
  for (const span of line) {
    if (left <= 0) break
    const text = cut(span.text, left)
    left -= widthOf(text)
    parts.push({ ...span, text })
  }
  return parts
}
