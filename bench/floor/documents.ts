import { createHash, randomUUID } from 'node:crypto'

/** As base64 without padding. */
const sha256 = (text: string): string => createHash('sha256').update(text).digest('base64').slice(0, 43)

export const digestOf = (asked: unknown): string => {
  const salt = randomUUID()
  return `${salt}:${sha256(`${salt}\n${JSON.stringify(asked)}`)}`
}

/** Binds a command, and when it was kept, to the first entry it writes. */
export const sealOf = (conversation: string, digest: string, keptAt: string): string =>
  `${sha256(`["${conversation}","${digest}",null]`)}@${keptAt}`

/** The digest under which a session is held with a token. */
export const holderOf = (token: string): string => sha256(token)

/** The digests that stand for the texts of one entry, and the salt they were made with. */
export const saltTexts = (...texts: readonly string[]): { salt: string; digests: readonly string[] } => {
  const salt = randomUUID()
  return { salt, digests: texts.map((text) => sha256(`${salt}\n${JSON.stringify(text)}`)) }
}

/** An audit entry's body in its short form. The keys are written in order by hand, which is what canonical means. */
export const bodyOf = (body: Readonly<Record<string, unknown>>): string => JSON.stringify(body)
