import { forTerminal, onOneLine } from '../../../domain/kernel/safe-text.ts'
import { cut } from '../../../domain/kernel/text-width.ts'
import type { Invocation } from '../invocation/invocation.ts'
import type { Output } from '../invocation/output.ts'
import { screenOn } from './screen.ts'
import { coloured, usesColour } from './style.ts'

/** The part of a stream that writing needs. */
export interface Writable {
  readonly isTTY?: boolean
  readonly columns?: number
  readonly rows?: number
  write(text: string): unknown
}

/** Takes the line away that the cursor stands in. */
const CLEAR = '\r\u001b[2K'
const BELL = '\u0007'
const USUAL_COLUMNS = 80

/**
 * Both outputs of a process, and the only writers to them. On a terminal the second has a status line, which steps aside for whatever is written.
 */
export const outputsOn = (
  stdout: Writable,
  stderr: Writable,
  environment: Invocation['environment'] = {},
): { readonly out: Output; readonly err: Output } => {
  const [out, err] = [outputTo(stdout, environment), outputTo(stderr, environment)]
  if (stderr.isTTY !== true) return { out, err }
  let shown = ''
  const draw = (): unknown => shown !== '' && stderr.write(cut(onOneLine(shown), (err.columns ?? USUAL_COLUMNS) - 1))
  const aside = <Written>(write: (written: Written) => void) => {
    return (written: Written): void => {
      if (shown !== '') stderr.write(CLEAR)
      write(written)
      draw()
    }
  }
  const steppingAside = (output: Output): Output => ({
    line: aside(output.line),
    isTerminal: output.isTerminal === true,
    ...(output.spans && { spans: aside(output.spans) }),
    ...(output.screen && { screen: output.screen }),
    get columns() {
      return output.columns
    },
  })
  const status = (text: string): void => {
    if (text === shown) return
    if (shown !== '') stderr.write(CLEAR)
    shown = text
    draw()
  }
  const bell = (): void => void stderr.write(BELL)
  return { out: steppingAside(out), err: Object.assign(steppingAside(err), { status, bell }) }
}

/** Every line of every command goes through here, so that nothing anybody wrote can steer a terminal. */
const outputTo = (stream: Writable, environment: Invocation['environment']): Output => {
  const line = (text: string): void => void stream.write(`${forTerminal(text)}\n`)
  const spans: Output['spans'] = (parts) =>
    void stream.write(`${parts.map(({ text, style }) => coloured(forTerminal(text), style)).join('')}\n`)
  return {
    line,
    ...(usesColour(environment, stream.isTTY === true) && { spans }),
    isTerminal: stream.isTTY === true,
    ...(stream.isTTY === true && environment.TERM !== 'dumb' && { screen: () => screenOn(stream, environment) }),
    get columns() {
      return columnsOf(stream, environment)
    },
  }
}

/**
 * `COLUMNS` counts everywhere; without it a terminal says how wide it is, and anything else has no width. A terminal that
 * says 0 does not know: some say so for as long as nobody has sized them.
 */
const columnsOf = (stream: Writable, { COLUMNS: columns = '' }: Invocation['environment']): number | undefined => {
  if (/^[1-9]\d{0,4}$/.test(columns)) return Number(columns)
  return stream.isTTY === true ? stream.columns || USUAL_COLUMNS : undefined
}
