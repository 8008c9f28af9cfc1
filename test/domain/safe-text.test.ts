import { describe, expect, it } from 'vitest'
import { asLines, asText, asWords, forTerminal, inQuotes, onOneLine } from '../../src/domain/kernel/safe-text.ts'

/** Said in other words than the code: by the tables of Unicode, one property after the other. */
const PROPERTIES = [/\p{Cc}/u, /\p{Cs}/u, /\p{Zl}/u, /\p{Zp}/u, /\p{DI}/u, /\p{VS}/u, /\p{Join_C}/u, /\p{Bidi_C}/u]
/** Arabic and Syriac signs that are drawn. */
const DRAWN = /[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}]/u
const isDangerous = (character: string): boolean =>
  PROPERTIES.some((property) => property.test(character)) || (/\p{Cf}/u.test(character) && !DRAWN.test(character))

const everyCharacter = function* (): Generator<string> {
  for (let code = 0; code <= 0x10ffff; code += 1) yield String.fromCodePoint(code)
}

describe('a character that a reader cannot see', () => {
  it('is spelled out, whichever of all characters it is, and the others stay', () => {
    const wrong = []
    for (const character of everyCharacter()) {
      const isSpelled = onOneLine(`a${character}b`) !== `a${character}b`
      if (isDangerous(character) && !isSpelled) wrong.push(`kept ${character.codePointAt(0)?.toString(16)}`)
      if (/[\p{L}\p{N}\p{P}\p{Sm}\p{Sc}\p{Zs}]/u.test(character) && isSpelled && !isDangerous(character))
        wrong.push(`spelled ${character.codePointAt(0)?.toString(16)}`)
    }
    expect(wrong).toEqual([])
  })

  it.each([
    ['zero width joiner', '\u200d'],
    ['combining grapheme joiner', '\u034f'],
    ['braille blank', '\u2800'],
    ['variation selector 16', '\ufe0f'],
    ['variation selector 256', '\u{e01ef}'],
    ['Mongolian variation selector', '\u180b'],
    ['Hangul filler', '\u3164'],
    ['tag letter', '\u{e0041}'],
    ['right-to-left override', '\u202e'],
    ['first strong isolate', '\u2068'],
    ['line separator', '\u2028'],
    ['next line', '\u0085'],
    ['soft hyphen', '\u00ad'],
    ['object replacement', '\ufffc'],
    ['noncharacter', '\uffff'],
    ['half of a pair', '\udc00'],
  ])('is spelled out: %s', (_, character) => {
    const spelled = `\\u{${character.codePointAt(0)?.toString(16)}}`
    expect(onOneLine(`a${character}b`)).toBe(`a${spelled}b`)
    expect(asText(`a${character}b`)).toBe(`a${spelled}b`)
    expect(JSON.parse(forTerminal(JSON.stringify({ text: character })))).toEqual({ text: character })
  })
})

describe('ordinary writing', () => {
  it.each([
    ['emoji with joiners', 'a family 👨‍👩‍👧‍👦 at work 👩🏽‍💻'],
    ['emoji with selectors', 'I ❤️ it, 1️⃣ and ☑️'],
    ['flags', '🇩🇪 🏴󠁧󠁢󠁥󠁮󠁧󠁿 🏳️‍🌈'],
    ['Persian', 'می‌خواهم'],
    ['Hindi', 'क्‍ष and क्‌ष'],
    ['Chinese, Japanese, Korean', '漢字　ひらがな 한국어'],
    ['Arabic and Hebrew', 'مرحبا שלום'],
    ['accents', 'e\u0301 Zoë naïve'],
  ])('stays readable: %s', (_, text) => {
    expect([onOneLine(text), asText(text), forTerminal(text), inQuotes(text)]).toEqual([text, text, text, `"${text}"`])
  })

  it.each([
    ['a joiner outside of an emoji', 'pay\u200dpal', 'pay\\u{200d}pal'],
    ['a joiner after an emoji', '👩\u200d', '👩\\u{200d}'],
    ['two joiners in an emoji', '👩\u200d\u200d💻', '👩\\u{200d}\\u{200d}💻'],
    ['hidden tags behind a flag', '🏴\u{e0072}\u{e006d}\u{e007f}', '🏴\\u{e0072}\\u{e006d}\\u{e007f}'],
    ['bytes in variation selectors', '😀\u{e0148}\u{e0155}', '😀\\u{e0148}\\u{e0155}'],
    ['a non-joiner in Latin letters', 'ad\u200cmin', 'ad\\u{200c}min'],
    ['two non-joiners in Persian', 'می\u200c\u200cخواهم', 'می\\u{200c}\\u{200c}خواهم'],
  ])('opens no hole: %s', (_, text, shown) => {
    expect(onOneLine(text)).toBe(shown)
  })
})

describe('a form for each place', () => {
  const text = 'one\r\n"two"\t\\three\u2028four'
  it('keeps to one line, or to its own lines, and ends no quotation', () => {
    expect(onOneLine(text)).toBe('one\\r\\n"two"\\t\\three\\u{2028}four')
    expect(inQuotes(text)).toBe('"one\\r\\n\\"two\\"\\t\\\\three\\u{2028}four"')
    expect(asWords(text)).toBe('one "two" \\three four')
    expect(asLines(text)).toEqual(['one', '"two"  \\three', 'four'])
    expect(asText(text)).toBe('one\n"two"\t\\three\\u{2028}four')
    expect(inQuotes('abcdef', 3)).toBe('"abc…"')
    expect(inQuotes('ab😀', 3)).toBe('"ab…"')
  })

  it('makes what is harmless no different', () => {
    for (const form of [onOneLine, asWords, asText]) expect(form(form(text))).toBe(form(text))
  })
})
