/** The look of a part of a line, on a terminal with colour. */
export type Style = 'title' | 'good' | 'bad' | 'waiting'

/** A part of a line. Only the writer turns a style into codes of the terminal, so no text can bring codes of its own. */
export interface Span {
  readonly text: string
  readonly style?: Style | undefined
}

/** Where a command writes. */
export interface Output {
  line(text: string): void
  /** Writes a line whose parts have styles. Absent where there is no colour. */
  spans?(parts: readonly Span[]): void
  /** How wide a line may be. Absent where nothing is to be cut, as in a file or a pipe. */
  readonly columns?: number | undefined
  /** Shows a last line that the next one takes the place of; an empty one takes it away. Absent where nothing can be redrawn. */
  status?(text: string): void
  /** Whether a person reads it as it is written, and no program. */
  readonly isTerminal?: boolean
  /** Rings the bell. Absent where there is no terminal, or no bell is wanted. */
  bell?(): void
  /** Takes the whole terminal, until it is left. Absent where nothing can be redrawn. */
  screen?(): Screen
}

/** The whole terminal, redrawn in place. */
export interface Screen {
  draw(lines: readonly (readonly Span[])[]): void
  /** Puts the terminal back as it was. More than once is fine. */
  leave(): void
}
