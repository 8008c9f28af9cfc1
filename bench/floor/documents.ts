import { createHash, randomUUID } from 'node:crypto'

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

export const digestOf = (asked: unknown): string => {
  const salt = randomUUID()
  return `${salt}:${sha256(`${salt}\n${JSON.stringify(asked)}`)}`
}

/** Binds a command to the first entry it writes. */
export const sealOf = (conversation: string, digest: string, receipt: string): string =>
  `sha256:${sha256(`["${conversation}","${digest}",${receipt}]`)}`

/** The digests that stand for the texts of one entry, and the salt they were made with. */
export const saltTexts = (...texts: readonly string[]): { salt: string; digests: readonly string[] } => {
  const salt = randomUUID()
  return { salt, digests: texts.map((text) => `sha256:${sha256(`${salt}\n${JSON.stringify(text)}`)}`) }
}

/** An audit entry's body. The keys are written in order by hand, which is what canonical means. */
export const bodyOf = (body: Readonly<Record<string, unknown>>): string => JSON.stringify(body)
