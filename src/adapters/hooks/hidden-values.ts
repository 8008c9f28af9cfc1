/** Shorter ones would take words out of any text. */
const SHORTEST_SECRET = 6
/** A part of a path that is as long as this is a key; a shorter one may be a word. */
const SHORTEST_KEY = 16

/** Every form of the secrets that must not show, longest first: a server may send back what it was sent, and encode it. */
export const formsOf = (secrets: readonly string[]): readonly string[] =>
  [...new Set(secrets.filter(({ length }) => length >= SHORTEST_SECRET).flatMap(forms))]
    .filter(({ length }) => length >= SHORTEST_SECRET)
    .toSorted((a, b) => b.length - a.length)

const forms = (secret: string): readonly string[] => {
  const inJson = JSON.stringify(secret).slice(1, -1)
  const inUrl = percentEncoded(secret)
  const bytes = Buffer.from(secret)
  return [
    ...[secret, inJson, inJson.replaceAll('/', '\\/')],
    ...[inUrl, inUrl.toLowerCase(), inUrl.replaceAll('%20', '+'), percentDecoded(secret)],
    secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;'),
    ...[bytes.toString('hex'), bytes.toString('hex').toUpperCase()],
    ...[0, 1, 2].flatMap((before) => inBase64(bytes, before)),
  ]
}

/** A secret as it stands inside of something that was encoded whole, such as `user:secret`, with so many bytes before it. */
const inBase64 = (bytes: Buffer, before: number): readonly string[] => {
  const whole = Buffer.concat([Buffer.alloc(before), bytes])
  const [from, to] = [Math.ceil((before * 8) / 6), Math.floor((whole.length * 8) / 6)]
  return (['base64', 'base64url'] as const).map((encoding) => whole.toString(encoding).slice(from, to))
}

const percentEncoded = (text: string): string => {
  try {
    return encodeURIComponent(text)
  } catch {
    return '' // half a character, which no URL holds
  }
}

const percentDecoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}

/** The secrets in an address: the address of a channel is enough to write into it. */
export const addressSecrets = (url: string): readonly string[] => {
  if (!URL.canParse(url)) return [url]
  const { pathname, search, searchParams, username, password } = new URL(url)
  const credentials = `${percentDecoded(username)}:${percentDecoded(password)}`
  return [
    ...[url, `${pathname}${search}`, pathname, search.slice(1)],
    ...pathname.split('/').filter(({ length }) => length >= SHORTEST_KEY),
    ...searchParams.values(),
    // They are sent as a header, which a server may send back as a whole.
    ...(password === '' ? [] : [password, credentials, `Basic ${Buffer.from(credentials).toString('base64')}`]),
  ]
}

/** The secrets in the value of a header: all of it, the part after a scheme, and decoded basic credentials. */
export const secretsInHeader = (value: string): readonly string[] => {
  const [, scheme = '', credential = ''] = /^([A-Za-z][\w-]*) +(\S+)$/.exec(value.trim()) ?? []
  if (scheme.toLowerCase() !== 'basic') return [value, credential]
  const decoded = Buffer.from(credential, 'base64').toString()
  return [value, credential, decoded, decoded.slice(decoded.indexOf(':') + 1)]
}
