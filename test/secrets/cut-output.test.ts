import { describe, expect, it } from 'vitest'
import { CappedOutput, capped } from '../../src/adapters/hooks/capped-output.ts'
import { hideSecrets } from '../../src/domain/secrets/hide-secrets.ts'
import { argumentIn } from '../../src/domain/turn/tool-argument.ts'
import { PLANTED } from './planted.ts'

const HEAD = 48 * 1024
const TAIL = 16 * 1024
const filler = (length: number): string => 'word '.repeat(Math.ceil(length / 5)).slice(-length)

/** Pieces of a secret that are left in a text: eight characters are enough to count. */
const piecesIn = (text: string, secret: string): readonly string[] =>
  Array.from({ length: secret.length - 7 }, (_, at) => secret.slice(at, at + 8)).filter(
    (piece) => !piece.includes('PRIVATE') && text.includes(piece),
  )

const all = Object.entries(PLANTED).map(([name, planted]) => ({ name, ...planted }))
const shares = [0.2, 0.4, 0.6, 0.8, 0.95]

describe('output that is cut', () => {
  it.each(all)('leaves no piece of a key at the end of its beginning: $name', ({ text, secret }) => {
    for (const share of shares) {
      const before = filler(HEAD - text.indexOf(secret) - Math.ceil(secret.length * share))
      const { text: shown } = hideSecrets(capped(`${before}${text}\n${filler(2 * TAIL)}`))
      expect(piecesIn(shown, secret)).toEqual([])
      expect(shown).toContain('word word')
    }
  })

  it.each(all)('leaves no piece of a key at the beginning of its end: $name', ({ text, secret }) => {
    for (const share of shares) {
      const rest = text.slice(text.indexOf(secret)).length - Math.ceil(secret.length * share)
      const { text: shown } = hideSecrets(capped(`${filler(2 * HEAD)} ${text}\n${filler(TAIL - rest - 1)}`))
      expect(piecesIn(shown, secret)).toEqual([])
      expect(shown).toContain('word word')
    }
  })

  it('leaves no piece of a key where an answer was not read to its end', () => {
    for (const before of [filler(100), filler(2 * HEAD)]) {
      const output = new CappedOutput()
      output.add(Buffer.from(`${before} last ghp_aB3dE5gH7jK9`))
      output.stopHere()
      expect(output.text().trim()).toMatch(/last$/)
    }
  })

  it('keeps a text that has no words, but for its cut ends, and counts what is left out', () => {
    const shown = capped('x'.repeat(2 * HEAD))
    const [head = '', note = '', tail = ''] = shown.split('\n')
    expect(head.length).toBeGreaterThan(HEAD / 2)
    expect(tail.length).toBeGreaterThan(TAIL / 2)
    expect(note).toBe(`… ${2 * HEAD - head.length - tail.length} bytes left out …`)
    const emoji = capped('\u{1f600}'.repeat(HEAD))
    expect(emoji).not.toMatch(/\p{Surrogate}/u)
  })

  it('is left as it is when it is short', () => {
    expect(capped('a ghp_aB3dE5')).toBe('a ghp_aB3dE5')
  })
})

describe('the argument of a tool', () => {
  it.each(all.filter(({ secret }) => secret.length < 500))('is not read to the middle of a key: $name', (planted) => {
    const { text, secret } = planted
    for (const share of shares) {
      const before = filler(2_000 - text.indexOf(secret) - Math.ceil(secret.length * share))
      const argument = argumentIn({ command: `${before}${text} and more` }) ?? ''
      expect(piecesIn(hideSecrets(argument).text, secret)).toEqual([])
      expect(argument).toContain('word word')
    }
  })
})
