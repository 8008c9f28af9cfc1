import fc from 'fast-check'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { toStorableText } from '../../src/adapters/postgres/rows/text-codec.ts'
import { askedWords, wordsOf } from '../../src/ports/store/word-search.ts'
import { cloneDatabase, withDatabase } from '../support/test-databases.ts'

let pool: pg.Pool

beforeAll(async () => {
  pool = new pg.Pool({ connectionString: withDatabase(process.env.TEST_DATABASE_URL ?? '', await cloneDatabase()) })
})
afterAll(async () => pool.end())

const wordsInDatabase = async (texts: readonly string[]): Promise<readonly (readonly string[])[]> => {
  const { rows } = await pool.query<{ words: string[] }>(
    'select batonpass.search_words(text) as words from unnest($1::text[]) with ordinality as given (text, place) order by place',
    [texts.map(toStorableText)],
  )
  return rows.map(({ words }) => words)
}

const sameWords = async (texts: readonly string[]): Promise<void> => {
  const found = await wordsInDatabase(texts)
  expect(found.map((words) => [...words].sort())).toEqual(texts.map((text) => [...wordsOf(text)].sort()))
}

it('every character is in a word, or between words, in the database as in memory', async () => {
  const everyone = Array.from({ length: 0x10_ff_ff / 16 + 1 }, (_, block) =>
    Array.from({ length: 16 }, (_unused, offset) => `a${String.fromCodePoint(block * 16 + offset)}b`).join(' '),
  )
  for (let from = 0; from < everyone.length; from += 8_192) await sameWords(everyone.slice(from, from + 8_192))
})

it('any text has the same words in the database as in memory', async () => {
  const piece = fc.oneof(fc.string({ unit: 'binary' }), fc.string(), fc.constantFrom('\u0000', '\ud800', '\uf8ff', '0'))
  const text = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''))
  await fc.assert(fc.asyncProperty(fc.array(text, { minLength: 100, maxLength: 200 }), sameWords), { numRuns: 20 })
})

it('asks for a word in the spellings people use', () => {
  expect(askedWords('Login-test')).toEqual([['login'], ['test']])
  expect(askedWords('über')).toEqual([['über', 'Über']])
  expect(askedWords('ÉTÉ')).toEqual([['ÉtÉ', 'été', 'Été']])
  expect(askedWords(' — ')).toEqual([])
})
