import { randomUUID } from 'node:crypto'
import type { Client } from 'pg'
import type { WakeUpListener } from '../../../ports/store/wake-ups.ts'
import { fromStoredText } from '../rows/text-codec.ts'
import { quotedName } from '../statements/database.ts'

/** How a server is listened to. */
export interface WakeUpServer {
  /** The channel of wake-ups has the name of the schema, so that schemas side by side do not wake each other. */
  readonly schema: string
  /** A client that is not connected yet, straight to the server that commands go to now; told when they go to another. */
  readonly client: (moved: () => void) => Promise<Client>
  /** Sends a wake-up on the way that commands take. */
  readonly send: (channel: string, payload: string) => Promise<unknown>
}

/** How long a wake-up may take that is sent to find out whether any arrives. */
const PROOF_MS = 5_000
/** How often to see whether the line is dead: a server that has lost its power says nothing. */
const PULSE_MS = 30_000
const ANSWER_MS = 10_000

/** No wake-up was heard that was sent as others are: something between does not pass them on. */
export class NotHeardError extends Error {
  override readonly name = 'NotHeardError'
}

/**
 * Listens on one connection until it is lost or the signal aborts. Nothing counts as heard before a wake-up has come all
 * the way: a pooler in transaction mode takes the command to listen, and passes nothing on.
 *
 * @throws whatever ended it
 */
export const hear = async (server: WakeUpServer, listener: WakeUpListener, signal: AbortSignal): Promise<never> => {
  let leave = (): void => {}
  const elsewhere = new Promise<never>((_, reject) => {
    leave = () => reject(new Error('commands go to another server now'))
  })
  elsewhere.catch(() => {})
  const client = await unlessAborted(server.client(leave), signal)
  const proof = ` ${randomUUID()}`
  let proven = (): void => {}
  const heard = new Promise<void>((resolve) => {
    proven = resolve
  })
  client.on('notification', ({ payload = '' }) => {
    if (payload === proof) proven()
    // No agent's name begins with a blank: that is the proof of another listener.
    else if (!payload.startsWith(' ')) listener.wake(payload === '' ? undefined : fromStoredText(payload))
  })
  const over = new AbortController()
  try {
    return await Promise.race([
      lost(client, signal, over.signal),
      elsewhere,
      keepHearing(client, { ...server, proof, heard }, () => {
        listener.tell({ isHeard: true })
        listener.wake()
      }),
    ])
  } finally {
    over.abort()
    await Promise.race([client.end().catch(() => undefined), quietly(1_000)])
  }
}

/** The server may be looked for for a while; closing the store does not wait for that. */
const unlessAborted = async <T>(work: Promise<T>, signal: AbortSignal): Promise<T> => {
  const over = new AbortController()
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true, signal: over.signal })
    if (signal.aborted) reject(signal.reason)
  })
  try {
    return await Promise.race([work, aborted])
  } finally {
    over.abort()
  }
}

interface Proving extends WakeUpServer {
  readonly proof: string
  readonly heard: Promise<void>
}

const keepHearing = async (client: Client, { schema, send, proof, heard }: Proving, begun: () => void) => {
  letEnd(client)
  await client.connect()
  // A connection with TLS is another socket than the one it began with.
  letEnd(client)
  await within(ANSWER_MS, client.query(`listen ${quotedName(schema)}`), wentDead)
  await send(schema, proof)
  await within(PROOF_MS, heard, () => new NotHeardError('no wake-up came through within 5 seconds, as behind a pooler'))
  begun()
  for (;;) {
    await quietly(PULSE_MS)
    await within(ANSWER_MS, client.query('select 1'), wentDead)
  }
}

const wentDead = (): Error => new Error('the connection for wake-ups went dead')

/** Lets the process end though the connection is open. The driver can; its types do not say so. */
const letEnd = (client: Client): void => (client as Client & { unref(): void }).unref()

/** Fails when the connection is lost, or is not wanted any more. */
const lost = (client: Client, signal: AbortSignal, over: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    client.on('error', reject)
    client.on('end', () => reject(new Error('the server ended the connection for wake-ups')))
    signal.addEventListener('abort', () => reject(signal.reason), { once: true, signal: over })
    if (signal.aborted) reject(signal.reason)
  })

const within = async (milliseconds: number, work: Promise<unknown>, late: () => Error): Promise<void> => {
  const tooLate = quietly(milliseconds).then(() => Promise.reject(late()))
  await Promise.race([work, tooLate])
}

/** Waits, without keeping the process alive. */
export const quietly = (milliseconds: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const over = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', over)
      resolve()
    }
    const timer = setTimeout(over, milliseconds)
    timer.unref()
    signal?.addEventListener('abort', over, { once: true })
    if (signal?.aborted === true) over()
  })
