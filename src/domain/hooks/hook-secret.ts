/** Keys written this way are base64; any other text is the key itself. */
const ENCODED = 'whsec_'
/** Groups of four, and the last one filled up; the alphabet of the standard, which is what receivers decode. */
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const VARIABLE = /\$\{[A-Za-z_]\w*\}/

/** The shortest key that Standard Webhooks allows. A shorter one can be guessed, and an empty one signs nothing. */
const SHORTEST_KEY_BYTES = 24
/** A random key never has fewer different characters. */
const FEWEST_KINDS = 6

/** Whether a text says where a value comes from, so that the value itself is known only when it is used. */
export const hasVariable = (text: string): boolean => VARIABLE.test(text)

/** The part of a secret that is base64, if it says that it is. */
export const encodedKey = (secret: string): string | undefined =>
  secret.startsWith(ENCODED) ? secret.slice(ENCODED.length) : undefined

/** Why a secret cannot sign, with what to do about it; undefined when it can. The answer never holds the secret. */
export const secretProblem = (secret: string): { readonly problem: string; readonly advice: string } | undefined => {
  if (secret.trim() === '') return { problem: 'it is empty', advice: ADVICE }
  if (/^\s|\s$/u.test(secret)) {
    const what = /[\r\n]$/.test(secret) ? 'a line break' : 'white space'
    return { problem: `it begins or ends with ${what}`, advice: `Take ${what} off: the receiver signs without it.` }
  }
  const encoded = encodedKey(secret)
  if (encoded === '') return { problem: 'it is whsec_ and no key', advice: ADVICE }
  if (encoded !== undefined && !BASE64.test(encoded)) {
    return { problem: 'it is not base64 after whsec_', advice: 'Copy the whole key, with any = at its end.' }
  }
  return keyProblem(encoded === undefined ? secret : encoded, encoded !== undefined)
}

const keyProblem = (text: string, isEncoded: boolean) => {
  const bytes = isEncoded ? (text.replace(/==?$/, '').length * 3) >> 2 : new TextEncoder().encode(text).length
  if (bytes < SHORTEST_KEY_BYTES) return { problem: `it has ${bytes} bytes, which can be guessed`, advice: ADVICE }
  if (new Set(text).size < FEWEST_KINDS) return { problem: 'it repeats a few characters', advice: ADVICE }
  return undefined
}

const ADVICE = `Use a random key of ${SHORTEST_KEY_BYTES} bytes or more, such as whsec_ and the output of: openssl rand -base64 32.`
