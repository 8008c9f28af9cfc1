import { styleText } from 'node:util'
import type { Invocation } from '../invocation/invocation.ts'
import type { Output, Span, Style } from '../invocation/output.ts'

/** The formats of Node, whose codes end only what they began. */
const FORMATS = { title: 'bold', bad: 'red', good: 'green', waiting: 'yellow' } as const satisfies Record<Style, string>

/** Wraps a text that is already safe in the codes of its style. */
export const coloured = (text: string, style: Style | undefined): string =>
  style === undefined || text === '' ? text : styleText(FORMATS[style], text, { validateStream: false })

/**
 * Whether to write colours: never with `NO_COLOR`, always with `FORCE_COLOR`, else on a terminal that can show them.
 *
 * `stream.hasColors` of Node answers otherwise: it lets `FORCE_COLOR` count before `NO_COLOR`, takes an empty one for a yes,
 * is there on terminals only, and sees no colours on a terminal whose name it does not know.
 */
export const usesColour = (environment: Invocation['environment'], isTerminal: boolean): boolean => {
  const { NO_COLOR: no = '', FORCE_COLOR: force = '', TERM: kind } = environment
  if (no !== '' || force === '0' || force === 'false') return false
  return force !== '' || (isTerminal && kind !== 'dumb')
}

/** The text of a line, without its styles. */
export const textOfSpans = (spans: readonly Span[]): string => spans.map(({ text }) => text).join('')

/** Writes a line in parts; without their styles where there is no colour. */
export const writeSpans = (out: Output, spans: readonly Span[]): void =>
  out.spans === undefined ? out.line(textOfSpans(spans)) : out.spans(spans)

const STYLE_OF_WORD: Readonly<Record<string, Style>> = {
  active: 'waiting',
  initiated: 'waiting',
  accepted: 'waiting',
  paused: 'waiting',
  pending: 'waiting',
  completed: 'good',
  handed_off: 'good',
  applied: 'good',
  failed: 'bad',
  cancelled: 'bad',
  unknown: 'bad',
}

/** The style of a state or status. */
export const styleOf = (word: string): Style | undefined => STYLE_OF_WORD[word]
