import { onOneLine } from '../../domain/kernel/safe-text.ts'
import type { Output } from './command.ts'
import { cut, forTerminal } from './render-text.ts'

/** What is needed of a stream to write to it. */
export interface Writable {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

/** Takes the line away that the cursor stands in. */
const CLEAR = '\r\u001b[2K'
const USUAL_COLUMNS = 80

/**
 * Both outputs of a process, and the only writers to them. On a terminal the second has a status line, which steps aside for whatever is written.
 */
export const outputsOn = (stdout: Writable, stderr: Writable): { readonly out: Output; readonly err: Output } => {
  if (stderr.isTTY !== true) return { out: lineTo(stdout), err: lineTo(stderr) }
  let shown = ''
  const draw = (): unknown => shown !== '' && stderr.write(cut(onOneLine(shown), (stderr.columns ?? USUAL_COLUMNS) - 1))
  const aside = ({ line }: Output): Output => ({
    line: (text) => {
      if (shown !== '') stderr.write(CLEAR)
      line(text)
      draw()
    },
  })
  const status = (text: string): void => {
    if (text === shown) return
    if (shown !== '') stderr.write(CLEAR)
    shown = text
    draw()
  }
  return { out: aside(lineTo(stdout)), err: { ...aside(lineTo(stderr)), status } }
}

/** Every line of every command goes through here, so that nothing anybody wrote can steer a terminal. */
const lineTo = (stream: Writable): Output => ({ line: (text) => void stream.write(`${forTerminal(text)}\n`) })
