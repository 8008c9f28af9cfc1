/**
 * Postgres text holds neither U+0000 nor half a surrogate pair, and agents write both. They are kept escaped behind a
 * private-use character, which is itself doubled, so that every string comes back exactly as it was given.
 */
const ESCAPE = '\uf8ff'
const NUL = '\u0000'

const UNSTORABLE = new RegExp(
  `[${NUL}${ESCAPE}]|[\\ud800-\\udbff](?![\\udc00-\\udfff])|(?<![\\ud800-\\udbff])[\\udc00-\\udfff]`,
  'g',
)
const ESCAPED = new RegExp(`${ESCAPE}(${ESCAPE}|0|[0-9a-f]{4})`, 'g')

const storable = (text: string): string =>
  text.replaceAll(UNSTORABLE, (unit) => {
    if (unit === ESCAPE) return ESCAPE + ESCAPE
    return ESCAPE + (unit === NUL ? '0' : unit.charCodeAt(0).toString(16))
  })

const original = (text: string): string =>
  text.replaceAll(ESCAPED, (_, code: string) => {
    if (code === ESCAPE) return ESCAPE
    return code === '0' ? NUL : String.fromCharCode(Number.parseInt(code, 16))
  })

/** JSON text writes the unstorable ones as escapes; a text without them needs no walk. */
const MAY_HOLD_UNSTORABLE = new RegExp(`\\\\u(0000|d[89a-f][0-9a-f]{2})|${ESCAPE}`, 'i')

const mapStrings = (value: unknown, change: (text: string) => string): unknown => {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, change))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, mapStrings(part, change)]))
}

/** Data as JSON text that Postgres can store. */
export const toStorableJson = (value: unknown): string => {
  const json = JSON.stringify(value)
  const isPlain = !json.includes('\\u') && !json.includes(ESCAPE)
  return !isPlain && MAY_HOLD_UNSTORABLE.test(json) ? JSON.stringify(mapStrings(value, storable)) : json
}

/** Data back from JSON text that Postgres stored. */
export const fromStoredJson = (json: string): unknown => {
  const value: unknown = JSON.parse(json)
  return json.includes(ESCAPE) ? mapStrings(value, original) : value
}

/** A single text that Postgres can store or compare. */
export const toStorableText = storable

/** A single text back from Postgres. */
export const fromStoredText = original

/** JSON text that is stored as it stands: only the escape itself can be in it, everything else JSON has escaped. */
export const toStorableBody = (json: string): string => (json.includes(ESCAPE) ? storable(json) : json)
