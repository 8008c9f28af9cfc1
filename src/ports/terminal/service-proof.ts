import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

/** The token that opens one session, made from the master token. */
export const sessionToken = (master: string, providerSessionId: string): string =>
  createHmac('sha256', master).update(`session:${providerSessionId}`).digest('hex')

/** The place that a proof is for. A proof for one place is of no use at another. */
export interface ProvenPlace {
  readonly host: string
  readonly port: number
  /** The start of the machine; empty where the system does not tell. */
  readonly bootId: string
}

/** The shape of a nonce: 32 bytes that a client has made for this one question. */
export const NONCE = /^[0-9a-f]{64}$/

/**
 * The proof that a server knows the master token, which tells nothing of it. It answers a nonce, and names the address, the
 * port and the start of the machine: a server that passes the question on to the real service gets a proof for another place.
 */
export const serviceProofOf = (master: string, nonce: string, { host, port, bootId }: ProvenPlace): string =>
  createHmac('sha256', master)
    .update(`proof:${JSON.stringify([nonce, host, port, bootId])}`)
    .digest('hex')

/** Compares in the same time, whatever is different. */
export const isSameToken = (one: string, other: string): boolean => timingSafeEqual(hashed(one), hashed(other))

const hashed = (text: string): Buffer => createHash('sha256').update(text).digest()
