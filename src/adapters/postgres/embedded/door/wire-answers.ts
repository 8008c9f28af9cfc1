/** The SQLSTATE of a full disk. */
export const DISK_FULL = '53100'

/** Our own SQLSTATE: the folder of the store leads to another database than the one that its holder opened. */
export const REPLACED = 'BP004'

/** The states of a session as the protocol names them: idle, in a transaction, in one that has failed. */
export type WireSessionState = 'I' | 'T' | 'E'

const message = (type: string, ...parts: readonly Buffer[]): Buffer => {
  const body = Buffer.concat(parts)
  const head = Buffer.alloc(5)
  head.write(type, 'latin1')
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

const text = (value: string): Buffer => Buffer.from(`${value}\0`)

const int32 = (...values: readonly number[]): Buffer => {
  const bytes = Buffer.alloc(values.length * 4)
  for (const [place, value] of values.entries()) bytes.writeInt32BE(value, place * 4)
  return bytes
}

/** A statement as a message of its own. */
export const simpleQuery = (sql: string): Buffer => message('Q', text(sql))

export const SYNC = message('S')

/**
 * Ends a `COPY … FROM STDIN`, and means nothing otherwise. The engine is handed all that there is to read; if a COPY
 * looked for more, it would take that for the end of its only client, and end itself.
 */
export const NO_COPY = message('f', text('this door takes no COPY from a client'))

/** Answers a visitor who asks for encryption: there is none, and no network between the two. */
export const NO_ENCRYPTION = Buffer.from('N')

/** The newest minor version of the protocol that is spoken, for those who ask for a newer one. */
export const olderProtocol = (): Buffer => message('v', int32(0, 0))

const readyFor = (state: WireSessionState): Buffer => message('Z', Buffer.from(state))

/** Lets a visitor in. The file system has asked already who it is; keys to cancel with are of no use here. */
export const welcome = (serverVersion: string): Buffer =>
  Buffer.concat([
    message('R', int32(0)),
    ...Object.entries({
      server_version: serverVersion,
      server_encoding: 'UTF8',
      client_encoding: 'UTF8',
      DateStyle: 'ISO, MDY',
      integer_datetimes: 'on',
      standard_conforming_strings: 'on',
    }).map(([name, value]) => message('S', text(name), text(value))),
    message('K', int32(process.pid, 0)),
    readyFor('I'),
  ])

/** A failure in the words of the protocol; after a fatal one the connection ends. */
export const failure = (severity: 'ERROR' | 'FATAL', sqlState: string, sentence: string): Buffer =>
  message('E', text(`S${severity}`), text(`V${severity}`), text(`C${sqlState}`), text(`M${sentence}`), Buffer.alloc(1))

/** The state of the session after an answer, which its last message tells; nothing when the answer is not complete. */
export const stateAfter = (answer: Buffer): WireSessionState | undefined => {
  const start = answer.length - 6
  if (start < 0 || answer[start] !== 0x5a || answer.readInt32BE(start + 1) !== 5) return undefined
  const state = String.fromCharCode(answer[start + 5] ?? 0)
  return state === 'I' || state === 'T' || state === 'E' ? state : undefined
}

/** Whether an answer tells of a failure with this SQLSTATE. */
export const hasFailed = (answer: Buffer, sqlState: string): boolean => {
  for (let at = 0; at + 5 <= answer.length; at += answer.readInt32BE(at + 1) + 1) {
    if (answer[at] !== 0x45) continue
    const fields = answer.subarray(at + 5, at + 1 + answer.readInt32BE(at + 1)).toString()
    if (fields.split('\0').includes(`C${sqlState}`)) return true
  }
  return false
}
