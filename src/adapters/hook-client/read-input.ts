import { isRecord } from '../../domain/kernel/record.ts'
import { afterAtMost } from './budget.ts'

/** A hook's input, as it came: one JSON object. */
export type RawInput = Readonly<Record<string, unknown>>

/** An input, or the reason why there is none. */
export type InputRead =
  | { readonly state: 'read'; readonly input: RawInput; readonly text: Buffer }
  | { readonly state: 'unread'; readonly problem: string }

const MOST_BYTES = 8 * 1024 * 1024
/** Above this only the end of the input is taken for its end: parsing a long text again and again would take too long. */
const EAGER_BYTES = 256 * 1024
const CLOSING_BRACE = 0x7d

/**
 * Reads standard input, up to 8 MiB and for no longer than this. It is over as soon as it is a whole JSON object: not every
 * runtime closes the pipe after it (Claude Code does not at the end of a session).
 */
export const readInput = (stream: NodeJS.ReadStream, ms: number): Promise<InputRead> => {
  if (stream.isTTY) return Promise.resolve(unread('standard input is a terminal'))
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let size = 0
    const whole = (): InputRead => parsed(Buffer.concat(chunks))
    const end = (read: InputRead): void => {
      clearTimeout(timer)
      stream.removeAllListeners('data').pause()
      resolve(read)
    }
    const timer = afterAtMost(ms, () => {
      const read = whole()
      end(read.state === 'read' ? read : unread(`standard input did not end in time (${size} bytes)`))
    })
    stream.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      size += chunk.length
      if (size > MOST_BYTES) return end(unread('standard input is over 8 MiB'))
      if (size > EAGER_BYTES || !endsInBrace(chunk)) return
      const read = whole()
      if (read.state === 'read') end(read)
    })
    stream.once('end', () => end(whole()))
    stream.on('error', () => end(unread('standard input could not be read')))
  })
}

const unread = (problem: string): InputRead => ({ state: 'unread', problem })

const endsInBrace = (chunk: Buffer): boolean => {
  let at = chunk.length - 1
  while (at >= 0 && (chunk[at] ?? 0) <= 0x20) at -= 1
  return chunk[at] === CLOSING_BRACE
}

const parsed = (text: Buffer): InputRead => {
  if (text.length === 0) return unread('standard input is empty')
  try {
    const input: unknown = JSON.parse(text.toString('utf8'))
    if (isRecord(input)) return { state: 'read', input, text }
  } catch {
    // said below: the parser would repeat parts of the input
  }
  return unread(`standard input is not a JSON object (${text.length} bytes)`)
}
