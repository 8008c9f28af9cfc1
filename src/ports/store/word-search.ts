/** The characters between words. Kept equal, range for range, to `search_words` in migration 0013; a test compares them. */
const BETWEEN_WORDS = new RegExp(
  `[${[
    String.raw`\u0000-/:-@\[-\x60{-\u00bf\u00d7\u00f7`,
    String.raw`\u2000-\u206f\u2190-\u2bff\u3000-\u3004\u3008-\u3030\ud800-\udfff\uf8ff\ufeff`,
    String.raw`\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65`,
  ].join('')}]+`,
  'u',
)

/** Longer words are known by their first characters, so that a pasted blob cannot break an index. */
const LONGEST_WORD = 64

/** The words of a text, as a search sees them. Letters A to Z lose their case; others keep it. */
export const wordsOf = (text: string): ReadonlySet<string> => new Set(splitWords(text).map(indexed))

/**
 * The words of a search: one list per word, and any spelling of a list matches.
 *
 * Letters other than A to Z are matched as given, in lower case, in capitals, or with a capital first: no two
 * databases agree on more than that.
 */
export const askedWords = (text: string): readonly (readonly string[])[] =>
  splitWords(text).map((word) => {
    const [first = '', ...rest] = word.toLowerCase()
    const spellings = [word, word.toLowerCase(), word.toUpperCase(), first.toUpperCase() + rest.join('')]
    return [...new Set(spellings.map(indexed))]
  })

const splitWords = (text: string): readonly string[] => text.split(BETWEEN_WORDS).filter((word) => word !== '')

const indexed = (word: string): string =>
  [...word.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())].slice(0, LONGEST_WORD).join('')
