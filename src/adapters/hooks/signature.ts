import { createHmac, randomUUID } from 'node:crypto'
import { encodedKey, secretProblem } from '../../domain/hooks/hook-secret.ts'

/** A secret that must not sign. The message says why, and never what it is. */
export class WeakSecret extends Error {
  override readonly name = 'WeakSecret'
}

const keyOf = (secret: string): Buffer => {
  const wrong = secretProblem(secret)
  if (wrong !== undefined) throw new WeakSecret(`The secret cannot be used: ${wrong.problem}. ${wrong.advice}`)
  const encoded = encodedKey(secret)
  return encoded === undefined ? Buffer.from(secret) : Buffer.from(encoded, 'base64')
}

/**
 * Headers by which a receiver knows who sent a body, and when: HMAC-SHA256 over id, time and body, in the form of
 * Standard Webhooks, for which many languages have a library.
 *
 * @throws WeakSecret when the secret is empty, short or not what it says
 */
export const signedHeaders = (body: string, secret: string, now = Date.now()): Readonly<Record<string, string>> => {
  const id = `msg_${randomUUID()}`
  const seconds = Math.floor(now / 1_000)
  const signature = createHmac('sha256', keyOf(secret)).update(`${id}.${seconds}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': String(seconds), 'webhook-signature': `v1,${signature}` }
}
