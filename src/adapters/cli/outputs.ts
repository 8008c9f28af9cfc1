import type { Output } from './command.ts'
import { cut } from './render-text.ts'

/** What is needed of a stream to write to it. */
export interface Writable {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

/** Takes the line away that the cursor stands in. */
const CLEAR = '\r\u001b[2K'
const USUAL_COLUMNS = 80

/** Both outputs of a process. On a terminal the second has a status line, which steps aside for whatever is written. */
export const outputsOn = (stdout: Writable, stderr: Writable): { readonly out: Output; readonly err: Output } => {
  if (stderr.isTTY !== true) return { out: lineTo(stdout), err: lineTo(stderr) }
  let shown = ''
  const draw = (): unknown => shown !== '' && stderr.write(cut(shown, (stderr.columns ?? USUAL_COLUMNS) - 1))
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

const lineTo = (stream: Writable): Output => ({ line: (text) => void stream.write(`${text}\n`) })
