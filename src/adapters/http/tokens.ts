import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

const TOKEN = /^Bearer ([0-9a-f]{64})$/i

/** The token that opens one session, made from the master token. */
export const sessionToken = (master: string, providerSessionId: string): string =>
  createHmac('sha256', master).update(`session:${providerSessionId}`).digest('hex')

/** The token in an `Authorization` header, if it has the shape of one. */
export const bearerIn = (header: string | undefined): string | undefined => TOKEN.exec(header ?? '')?.[1]?.toLowerCase()

/** Compares in the same time, whatever is different. */
export const isSameToken = (one: string, other: string): boolean => timingSafeEqual(hashed(one), hashed(other))

const hashed = (text: string): Buffer => createHash('sha256').update(text).digest()
