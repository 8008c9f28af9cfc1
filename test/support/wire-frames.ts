/** One message of the Postgres protocol. */
export interface Frame {
  readonly type: string
  readonly body: Buffer
}

const SSL_REQUEST = 80_877_103
const GSS_REQUEST = 80_877_104
const CANCEL_REQUEST = 80_877_102

/** Takes a stream apart into messages. What a client says first has no type; it is passed over. */
export const frameReader = (from: 'client' | 'server', onFrame: (frame: Frame) => void): ((chunk: Buffer) => void) => {
  let rest: Buffer = Buffer.alloc(0)
  let isIntroduced = from === 'server'
  /** How many bytes of the current message are there, or `undefined` while that is not known. */
  const next = (): { readonly length: number; readonly frame?: Frame } | undefined => {
    const header = isIntroduced ? 5 : 8
    if (rest.length < header) return undefined
    const length = rest.readInt32BE(isIntroduced ? 1 : 0) + (isIntroduced ? 1 : 0)
    if (rest.length < length) return undefined
    if (!isIntroduced) {
      const code = rest.readInt32BE(4)
      isIntroduced = ![SSL_REQUEST, GSS_REQUEST, CANCEL_REQUEST].includes(code)
      return { length }
    }
    return { length, frame: { type: String.fromCharCode(rest[0] ?? 0), body: rest.subarray(5, length) } }
  }
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    for (let found = next(); found !== undefined; found = next()) {
      rest = rest.subarray(found.length)
      if (found.frame) onFrame(found.frame)
    }
  }
}

/** What a server says when something went wrong, as it goes over the wire. */
export const errorResponse = ({
  severity,
  code,
  message,
}: Readonly<Record<'severity' | 'code' | 'message', string>>) => {
  const fields = `S${severity}\0V${severity}\0C${code}\0M${message}\0\0`
  const frame = Buffer.alloc(5 + Buffer.byteLength(fields))
  frame.write('E')
  frame.writeInt32BE(frame.length - 1, 1)
  frame.write(fields, 5)
  return frame
}
