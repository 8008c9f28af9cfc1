import { type Hide, SHORTEST_SECRET } from './hidden-text.ts'
import { isReference } from './key-formats.ts'
import { endOfRun, runOf } from './runs.ts'

const WORDS = [
  ...['passwords?', 'passwd', 'passphrase', 'pwd', 'secrets?', 'tokens?', 'credentials?'],
  ...['api', 'access', 'account', 'auth', 'client', 'encryption', 'master', 'private', 'shared', 'signing'].map(
    (word) => `${word}[_-]?key`,
  ),
].join('|')

/** A secret-looking name, and the sign after it. Every part is bounded, so that each place costs no more than its own length. */
const NAMED = new RegExp(
  `(?<word>${WORDS})(?<rest>[A-Za-z0-9_-]{0,32})(?<sign>\\\\?["'\`]?\\s{0,4}(?:=>|:=|[:=])\\s{0,4}|["'\`]? is:? )`,
  'gi',
)

/** A name in capitals, as variables of an environment have. */
const IN_CAPITALS =
  /(?<![A-Za-z0-9_])(?<word>[A-Z][A-Z0-9_]{0,60}_(?:KEY|PAT|AUTH|PASS|PW|DSN)(?:_[A-Z0-9]{1,20})?)(?<rest>)(?<sign>=)/g

/** A flag whose value is the next word. */
const FLAG = /(?<word>--[a-z-]{0,30}(?:password|passphrase|token|secret|api-key))(?<rest>)(?<sign>[ \t]{1,3})(?!-)/g

/** A user and a password for curl. */
const USER = /(?<word>(?:\s-u|--user)[ =]["']?[^\s:"'`]{1,64})(?<rest>)(?<sign>:)/g

/** Names that speak of a secret and do not hold one: how many, which kind, where it is. */
const ABOUT =
  /^[_-]?(?:count|limits?|budget|type|names?|file|path|dir|url|uri|endpoint|ids?|length|size|max|min|usage|used|left|total|expir[a-z]*|ttl|lifetime|field|policy|hint|prompt|required|i[sz]e[a-z]*|i[sz]ation)(?![a-z])/i

const NUMBER = /^[0-9][0-9_.,]*$/
const DIGIT = /[0-9]/

/** Each hides the values of secret-looking names of one form: `FOO_TOKEN=…`, `password: …`, `"apiKey": "…"`. */
export const HIDE_NAMED_VALUES: readonly ((text: string, hide: Hide) => string)[] = [
  NAMED,
  IN_CAPITALS,
  FLAG,
  USER,
].map((pattern) => (text, hide) => hideAfter(text, pattern, hide))

const hideAfter = (text: string, pattern: RegExp, hide: Hide): string => {
  const parts: string[] = []
  let at = 0
  pattern.lastIndex = 0
  for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
    const { word = '', rest = '', sign = '' } = found.groups ?? {}
    const place = placeOf(text, pattern.lastIndex)
    // Only what is hidden is read to its end: nothing is read to the end twice.
    const beginning = beginningAt(text, place)
    if (ABOUT.test(rest) || !isSecret(beginning, { word, sign, isQuoted: place.quote !== undefined })) continue
    parts.push(text.slice(at, place.from), hide('value'))
    at = beginning.length < LOOKED_AT ? place.from + beginning.length : endOf(text, place)
    pattern.lastIndex = at
  }
  return parts.length === 0 ? text : `${parts.join('')}${text.slice(at)}`
}

/** As much of a value as is looked at to tell whether it is a secret. */
const LOOKED_AT = 200

interface Place {
  readonly from: number
  /** The quote that it stands in, if it does, and whether a backslash stands before that. */
  readonly quote?: string
  readonly isEscaped: boolean
}

const beginningAt = (text: string, place: Place): string => {
  const looked = text.slice(place.from, place.from + LOOKED_AT)
  return looked.slice(0, endOf(looked, { ...place, from: 0 }))
}

const placeOf = (text: string, start: number): Place => {
  const isEscaped = text.charAt(start) === '\\'
  const quote = text.charAt(isEscaped ? start + 1 : start)
  if (quote !== '"' && quote !== "'" && quote !== '`') return { from: start, isEscaped: false }
  return { from: start + (isEscaped ? 2 : 1), quote, isEscaped }
}

const BARE = runOf('[^\\s"\'`&\\\\]')
const TRAILING = /[,;.)\]}>]{1,20}$/

/** Where a value ends: at the quote that closes it, or at a blank. */
const endOf = (text: string, { from, quote, isEscaped }: Place): number => {
  if (quote !== undefined) return closing(text, from, { quote, isEscaped })
  const to = endOfRun(text, from, BARE)
  return to - (TRAILING.exec(text.slice(Math.max(from, to - 20), to))?.[0].length ?? 0)
}

const closing = (
  text: string,
  from: number,
  { quote, isEscaped }: { readonly quote: string; readonly isEscaped: boolean },
): number => {
  for (let at = from; at < text.length; at += 1) {
    const character = text.charAt(at)
    if (character === '\n' || character === '\r') return at
    if (character === quote) return at
    if (character !== '\\') continue
    if (isEscaped && text.charAt(at + 1) === quote) return at
    at += 1
  }
  return text.length
}

/** Code that names a type or calls a function holds no secret, and a number of tokens is none. */
const isSecret = (
  value: string,
  { word, sign, isQuoted }: { readonly word: string; readonly sign: string; readonly isQuoted: boolean },
): boolean => {
  if (value.length < SHORTEST_SECRET || isReference(value)) return false
  const isPassword = /^(?:pass|pwd)/i.test(word)
  if (!isPassword && NUMBER.test(value)) return false
  if (sign.endsWith('is ') || sign.endsWith('is: ')) return DIGIT.test(value)
  if (isQuoted || sign === '=' || !/[:=]/.test(sign)) return true
  if (value.includes('(')) return false
  return isPassword ? !IDENTIFIERS.test(value) : DIGIT.test(value) && !IDENTIFIERS.test(value)
}

/** Names with points between them, as code has. */
const IDENTIFIERS = /^[A-Za-z_$][A-Za-z_$0-9]*(?:[?!]?\.[A-Za-z_$][A-Za-z_$0-9]*)+$/
