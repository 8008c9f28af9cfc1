import { createHmac, randomUUID } from 'node:crypto'

/** Keys written this way are base64; any other text is the key itself. */
const ENCODED = 'whsec_'

const keyOf = (secret: string): Buffer =>
  secret.startsWith(ENCODED) ? Buffer.from(secret.slice(ENCODED.length), 'base64') : Buffer.from(secret)

/**
 * Headers by which a receiver knows who sent a body, and when: HMAC-SHA256 over id, time and body, in the form of
 * Standard Webhooks, for which many languages have a library.
 */
export const signedHeaders = (body: string, secret: string, now = Date.now()): Readonly<Record<string, string>> => {
  const id = `msg_${randomUUID()}`
  const seconds = Math.floor(now / 1_000)
  const signature = createHmac('sha256', keyOf(secret)).update(`${id}.${seconds}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': String(seconds), 'webhook-signature': `v1,${signature}` }
}
