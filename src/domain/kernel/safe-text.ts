/**
 * Text of others: whatever an agent, a hook, a server, a file or a name brought, wherever it is shown to an agent or to a
 * person. This is the only place that knows which characters are dangerous; every form below is made by one function.
 *
 * The rule, instead of a list of known tricks: a character is spelled out when a reader cannot see it, or when it acts on
 * what stands around it.
 * - `Cc`, `Cf`: control and format characters, which steer terminals and turn text around;
 * - `Default_Ignorable_Code_Point`: all that Unicode says to draw as nothing (joiners, fillers, variation selectors, tags);
 * - `Zl`, `Zp`: line and paragraph separators, which begin a line for some readers and not for others;
 * - `Cs` and noncharacters, which are no text at all;
 * - the few that are drawn as blank although they are letters, symbols or marks.
 *
 * Blanks that everybody takes for a blank (`Zs`) stay. So do signs of Arabic and Syriac that are format characters by
 * name and are drawn all the same.
 */
const UNSEEN = String.raw`[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\u2800\ufffc\u{16fe4}\u{1d159}[\p{Cf}--[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}]]]`

/**
 * An emoji of Unicode's own list may hold joiners, selectors and tags. The list is closed: nothing else can hide in one. It
 * is long, so it is looked through only where an emoji can begin.
 */
const EMOJI = String.raw`(?=\p{Emoji})\p{RGI_Emoji}`

/** Persian and its neighbours write one non-joiner between two letters, and the scripts of India a joiner after a virama. */
const SPELLING = String.raw`(?<=[\p{Script=Arabic}&&\p{L}])\u200c(?=[\p{Script=Arabic}&&\p{L}])|(?<=[\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca])[\u200c\u200d](?=[\p{L}&&[\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}]])`

const EACH_UNSEEN = new RegExp(UNSEEN, 'gv')
/** Only these are kept anywhere: a text without them needs no list of emoji, which takes long to make. */
const MAY_BE_KEPT = /\u200c|\u200d|\ufe0f|[\u{e0020}-\u{e007f}]/u
let eachOrEmoji: RegExp | undefined
/** No character that cannot be seen begins an emoji. */
const BEGINS_EMOJI = /^\p{Emoji}/u

/** How a character is written instead. */
type Spelling = (character: string) => string

/** The one function that makes text of others harmless. Each character that a reader cannot see is written as `spell` says. */
const harmless = (text: string, spell: Spelling): string => {
  if (!MAY_BE_KEPT.test(text)) return text.replaceAll(EACH_UNSEEN, spell)
  // No emoji is longer than ten characters, and nothing else looks around further than one: the time is linear.
  // Without a group: one costs a list for every character that is found, which are too many in a text of nothing else.
  eachOrEmoji ??= new RegExp(`${EMOJI}|(?!${SPELLING})${UNSEEN}`, 'gv')
  return text.replaceAll(eachOrEmoji, (found) => (BEGINS_EMOJI.test(found) ? found : spell(found)))
}

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** A character as people write it. */
const spelledOut: Spelling = (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`

const keeping =
  (spared: string): Spelling =>
  (character) =>
    spared.includes(character) ? character : spelledOut(character)

const LINE_BREAK = /\r\n|[\n\r\u0085\u2028\u2029]/u

/** Text of others on one line, with nothing left out: a line break in it is seen, and begins no line. */
export const onOneLine = (text: string): string =>
  harmless(text, (character) => SHORT[character] ?? spelledOut(character))

/**
 * Text of others in quotation marks, inside a sentence of ours: it can neither end the line nor the quotation. What is
 * longer than `most` is cut.
 */
export const inQuotes = (text: string, most = Number.POSITIVE_INFINITY): string => {
  const part = text.length > most ? `${text.slice(0, most).replace(/[\ud800-\udbff]$/, '')}…` : text
  return `"${onOneLine(part.replaceAll(/["\\]/g, '\\$&'))}"`
}

const ONE_WORD = /^[\p{L}\p{N}_./][\p{L}\p{N}_.:/@+=#~-]{0,199}$/u

/** A name that others gave, inside a line of ours: a single word as it is, anything else in quotation marks. */
export const named = (name: string): string => (ONE_WORD.test(name) ? name : inQuotes(name))

/** Text of others as words in a line of ours, such as a cell of a table: white space is one space. */
export const asWords = (text: string): string => harmless(text.replaceAll(/[\s\u0085]+/gu, ' ').trim(), spelledOut)

/** Text of others by its own lines. Each is shown behind a mark or an indent, or all of them inside a fence. */
export const asLines = (text: string): readonly string[] =>
  text.split(LINE_BREAK).map((line) => harmless(line.replaceAll('\t', '  '), spelledOut))

/** Text of others as it stands in a fence: with its lines and tabs. */
export const asText = (text: string): string => harmless(text.replaceAll('\r\n', '\n'), keeping('\n\t'))

/** Text of others without what cannot be seen, where nobody needs to know that it was there. */
export const withoutUnseen = (text: string): string => harmless(text, () => '')

/**
 * A text in which some is of others, as it may reach a terminal: line breaks are left, and whatever cannot be seen is
 * written as JSON writes it. So a document in JSON stays one, with the same values in it.
 */
export const forTerminal = (text: string): string =>
  harmless(text, (character) =>
    character === '\n' ? character : [...Array(character.length).keys()].map((at) => unit(character, at)).join(''),
  )

const unit = (text: string, at: number): string => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`
