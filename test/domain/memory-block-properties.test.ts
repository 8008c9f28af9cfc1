import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { instant } from '../../src/domain/kernel/instant.ts'
import { MEMORY_BLOCK } from '../../src/domain/memory-block/block-markers.ts'
import { fillBlock, insertBlock, readBlock, resetBlock } from '../../src/domain/memory-block/memory-block.ts'
import { runsOf } from '../support/amounts.ts'

const NOW = instant('2026-11-17T10:00:00Z')
const LATER = instant('2026-11-18T10:00:00Z')
const { begin, end } = MEMORY_BLOCK.markers

/** Pieces that a text for people may be made of, the nasty ones too. */
const piece = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)), maxLength: 4 }),
  fc.constantFrom(
    '\r\n',
    '\n',
    '\r',
    '\ufeff',
    '---',
    '---\nname: a\n---\n',
    '```',
    '<!--',
    '-->',
    '\u0000',
    '\ud800',
    '@a',
  ),
  fc.constantFrom('<', '</', 'current_thread_summary>', '<!-- batonpass thread=a source=b expires=c -->'),
)
const anyText = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''))
const withoutMarkers = anyText.filter((text) => !text.includes(begin) && !text.includes(end))
const withMarkers = fc
  .array(fc.oneof(piece, fc.constantFrom(begin, end)), { maxLength: 12 })
  .map((pieces) => pieces.join(''))

const held = (summary: string, threadKey = 'child-1') =>
  ({ threadKey, sourceThreadId: 'parent-1', expiresAt: LATER, summary }) as const

const must = (result: ReturnType<typeof insertBlock>): string => {
  if (!result.ok) throw new Error(result.error.code)
  return result.value
}

/** The bytes outside of the markers. */
const outside = (text: string): readonly string[] => {
  const [before = '', rest = ''] = text.split(begin)
  return [before, rest.slice(rest.indexOf(end))]
}

describe('the block, whatever the file and the summary are', () => {
  it('inserting keeps every byte, in its order', () => {
    fc.assert(
      fc.property(withoutMarkers, (text) => {
        const inserted = must(insertBlock(text))
        const at = inserted.indexOf(MEMORY_BLOCK.heading)
        const above = inserted.slice(0, at)
        const isAbove = text.startsWith(above) || text === above.replace(/\r\n$|\n$|\r$/, '')
        expect(isAbove && inserted.endsWith(text.slice(above.length))).toBe(true)
        expect(must(insertBlock(inserted))).toBe(inserted)
        expect(readBlock(inserted)).toEqual({ ok: true, value: { state: 'free' } })
      }),
      { numRuns: runsOf(500) },
    )
  })

  it('filling and resetting gives what inserting gives, and changes nothing outside', () => {
    fc.assert(
      fc.property(withoutMarkers, withMarkers, fc.string({ unit: 'binary', minLength: 1 }), (text, summary, key) => {
        const inserted = must(insertBlock(text))
        const filled = must(fillBlock(text, held(summary, key), NOW))
        expect(must(fillBlock(inserted, held(summary, key), NOW))).toBe(filled)
        expect(outside(filled)).toEqual(outside(inserted))
        expect(filled.split(begin)).toHaveLength(2)
        expect(filled.split(end)).toHaveLength(2)
        const read = readBlock(filled)
        expect(read).toMatchObject({ value: { state: 'held', held: { sourceThreadId: 'parent-1', expiresAt: LATER } } })
        expect(must(resetBlock(filled, { threadKey: key }))).toBe(inserted)
        expect(must(resetBlock(filled, { expiredAt: LATER }))).toBe(inserted)
        expect(must(resetBlock(filled, { expiredAt: NOW }))).toBe(filled)
      }),
      { numRuns: runsOf(500) },
    )
  })

  it('a summary that was written once is read back the same when it is written again', () => {
    fc.assert(
      fc.property(withMarkers, (summary) => {
        const summaryIn = (text: string): string => {
          const read = readBlock(must(fillBlock('', held(text), NOW)))
          return read.ok && read.value.state === 'held' ? read.value.held.summary : expect.unreachable()
        }
        const once = summaryIn(summary)
        expect(summaryIn(once)).toBe(once)
        expect(once).not.toMatch(/<!--|\r|\p{Cs}/u)
        expect(once).not.toContain('\u0000')
      }),
      { numRuns: runsOf(500) },
    )
  })

  it('text of others between the markers is never changed', () => {
    fc.assert(
      fc.property(withoutMarkers, withoutMarkers, (around, inside) => {
        const text = `${around}${begin}${inside}${end}${around}`
        const read = readBlock(text)
        fc.pre(read.ok && read.value.state === 'foreign')
        expect(fillBlock(text, held('A'), LATER)).toMatchObject({ ok: false, error: { code: 'memory_block.foreign' } })
        expect(must(insertBlock(text))).toBe(text)
        expect(must(resetBlock(text, { expiredAt: LATER }))).toBe(text)
      }),
      { numRuns: runsOf(500) },
    )
  })

  it('no text at all makes a rule throw or take long', () => {
    fc.assert(
      fc.property(withMarkers, (text) => {
        for (const result of [readBlock(text), insertBlock(text), fillBlock(text, held('A'), NOW)])
          expect(typeof result.ok).toBe('boolean')
      }),
      { numRuns: runsOf(500) },
    )
    for (const line of ['-a:\r\n', '\r\n', ' \n', 'a: b\n', '-\n', '<!--'])
      must(insertBlock(`---\n${line.repeat(100_000)}`))
  })
})
