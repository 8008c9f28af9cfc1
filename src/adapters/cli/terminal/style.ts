import type { Invocation, Output } from '../tree/command.ts'

/** The look of a part of a line, on a terminal with colour. */
export type Style = 'title' | 'good' | 'bad' | 'waiting'

/** A part of a line. Only the writer turns a style into codes of the terminal, so no text can bring codes of its own. */
export interface Span {
  readonly text: string
  readonly style?: Style | undefined
}

const CODES: Readonly<Record<Style, number>> = { title: 1, bad: 31, good: 32, waiting: 33 }

/** Wraps a text that is already safe in the codes of its style. */
export const coloured = (text: string, style: Style | undefined): string =>
  style === undefined || text === '' ? text : `\u001b[${CODES[style]}m${text}\u001b[0m`

/** Whether to write colours: never with `NO_COLOR`, always with `FORCE_COLOR`, else on a terminal that can show them. */
export const usesColour = (environment: Invocation['environment'], isTerminal: boolean): boolean => {
  const { NO_COLOR: no = '', FORCE_COLOR: force = '', TERM: kind } = environment
  if (no !== '' || force === '0' || force === 'false') return false
  return force !== '' || (isTerminal && kind !== 'dumb')
}

/** The text of a line, without its styles. */
export const textOf = (spans: readonly Span[]): string => spans.map(({ text }) => text).join('')

/** Writes a line in parts; without their styles where there is no colour. */
export const writeSpans = (out: Output, spans: readonly Span[]): void =>
  out.spans === undefined ? out.line(textOf(spans)) : out.spans(spans)

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
