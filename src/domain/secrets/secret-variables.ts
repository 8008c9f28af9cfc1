import { SHORTEST_SECRET } from './hidden-text.ts'

/** Names of variables that hold a secret. */
const SECRET =
  /TOKEN(?!S|IZ)|SECRET|PASSW|PASSPHRASE|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|CREDENTIALS?$|_(?:KEY|PAT|PASS|PW|PWD|AUTH|DSN)$/i

/** Names of variables that say where a secret is, or something else about it. */
const ABOUT = /_(?:FILE|PATH|DIR|SOCK|URL|URI|ID|NAME|TYPE|LIMIT|COUNT|TTL|EXPIRY|HOST|PORT)$/i

const PASSWORD_IN_URL = /^[A-Za-z][A-Za-z0-9+.-]{0,30}:\/\/[^\s/:@]{0,256}:([^\s/]{1,512})@/
const PLACE = /^(?:[./~]|[A-Za-z]:\\)[\w./\\ ~-]*$/
const PLAIN = /^(?:[0-9.,_-]+|true|false|disabled|required|optional)$/i

/** Every form in which a value may stand in a text: as it is, in a URL, and inside JSON. */
const formsOf = (value: string): readonly string[] => [value, encoded(value), JSON.stringify(value).slice(1, -1)]

const encoded = (value: string): string => {
  try {
    return encodeURIComponent(value)
  } catch {
    // Half of a character cannot stand in a URL.
    return value
  }
}

const decoded = (value: string): string => {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}

/**
 * The values of the secret-looking variables of an environment, longest first: one that holds another is hidden whole.
 * Of an address with a password only the password counts.
 */
export const secretValuesIn = (environment: Readonly<Record<string, string | undefined>>): readonly string[] => {
  const found = new Set<string>()
  for (const [name, given = ''] of Object.entries(environment)) {
    const value = given.trim()
    const [, password] = PASSWORD_IN_URL.exec(value.slice(0, 2_000)) ?? []
    if (password !== undefined) for (const one of [password, decoded(password)]) found.add(one)
    else if (SECRET.test(name) && !ABOUT.test(name) && !PLACE.test(value) && !PLAIN.test(value)) found.add(value)
  }
  return [...new Set([...found].filter(({ length }) => length >= SHORTEST_SECRET).flatMap(formsOf))].toSorted(
    (a, b) => b.length - a.length || (a < b ? -1 : 1),
  )
}
