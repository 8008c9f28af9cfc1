import { describe, expect, it } from 'vitest'
import { instant } from '../../src/domain/kernel/instant.ts'
import type { Result } from '../../src/domain/kernel/result.ts'
import { MEMORY_BLOCK } from '../../src/domain/memory-block/block-markers.ts'
import { type BlockRefusal, describeBlockRefusal } from '../../src/domain/memory-block/block-refusal.ts'
import {
  type BlockMarkers,
  fillBlock,
  insertBlock,
  readBlock,
  resetBlock,
} from '../../src/domain/memory-block/memory-block.ts'

const NOW = instant('2026-11-17T10:00:00Z')
const HELD = { threadKey: 'child-1', sourceThreadId: 'parent-1', expiresAt: instant('2026-11-18T10:00:00Z') }

const MARKERS: readonly BlockMarkers[] = [
  MEMORY_BLOCK.markers,
  { begin: '<!-- thread begin -->', end: '<!-- thread end -->' },
  { begin: '<a>', end: '<ab>' },
]

/** Texts that stand between markers; `|` is a line ending. */
const FILLERS = [
  '',
  ' ',
  '|',
  'None recorded yet.',
  '|None recorded yet.|',
  '|House rules|',
  '|```|',
  '\ufeff',
  '<',
  '|> ',
]
const ENDINGS = ['\n', '\r\n', '\r']
const MOST_MARKERS = 6

type Layout = readonly (keyof BlockMarkers)[]

const layouts = (length: number): readonly Layout[] =>
  length === 0
    ? [[]]
    : layouts(length - 1).flatMap((layout) => (['begin', 'end'] as const).map((kind) => [...layout, kind]))

const EVERY_LAYOUT = Array.from({ length: MOST_MARKERS + 1 }, (_, length) => layouts(length)).flat()

/** The words of case 80, counted by hand: no marker at all, or a begin and then an end. */
const isAccepted = (layout: Layout): boolean => layout.length === 0 || layout.join() === 'begin,end'

const textOf = (layout: Layout, filler: string, markers: BlockMarkers): string =>
  `${filler}${layout.map((kind) => `${markers[kind]}${filler}`).join('')}`

/** Whether every rule answers as case 80 says. */
const isAsSpecified = (text: string, layout: Layout, filler: string, markers: BlockMarkers): boolean => {
  const rules = [readBlock(text, markers), insertBlock(text, markers), resetBlock(text, { threadKey: 'a' }, markers)]
  const filled = fillBlock(text, { ...HELD, summary: 'Ship it.' }, NOW, markers)
  if (!isAccepted(layout)) return [...rules, filled].every((result) => isMalformed(result, layout.length))
  if (!rules.every(({ ok }) => ok)) return false
  if (layout.length === 2 && /House|`|<|>/.test(filler))
    return !filled.ok && filled.error.code === 'memory_block.foreign'
  const read = filled.ok ? readBlock(filled.value, markers) : filled
  return read.ok && read.value.state === 'held'
}

const isMalformed = (result: Result<unknown, BlockRefusal>, markers: number): boolean =>
  !result.ok && result.error.code === 'memory_block.malformed' && result.error.lines.length === markers

describe('every layout of up to six markers', () => {
  it('counts all of them', () => {
    expect(EVERY_LAYOUT).toHaveLength(127)
    expect(EVERY_LAYOUT.filter(isAccepted)).toEqual([[], ['begin', 'end']])
  })

  it.each(MARKERS.flatMap((markers) => ENDINGS.map((ending) => ({ markers, ending }))))(
    'is accepted when it is one pair or none, with $markers.begin and $ending',
    ({ markers, ending }) => {
      const wrong = EVERY_LAYOUT.flatMap((layout) =>
        FILLERS.filter((filler) => {
          const text = textOf(layout, filler.replaceAll('|', ending), markers)
          return !isAsSpecified(text, layout, filler, markers)
        }).map((filler) => ({ layout, filler })),
      )
      expect(wrong).toEqual([])
    },
  )

  it.each([
    [['begin'], 'orphan_begin', 'a block begins and has no end (line 1)'],
    [['end'], 'orphan_end', 'a block ends that has no beginning (line 1)'],
    [['end', 'begin'], 'reversed', 'the end of the block stands before its beginning (lines 1, 2)'],
    [['begin', 'begin'], 'nested', 'a block begins inside of another one (lines 1, 2)'],
    [['begin', 'begin', 'end', 'end'], 'nested', '(lines 1, 2, 3, 4)'],
    [['begin', 'end', 'begin', 'end'], 'two_blocks', 'there is more than one block (lines 1, 2, 3, 4)'],
    [['begin', 'end', 'end'], 'orphan_end', '(lines 1, 2, 3)'],
    [['begin', 'end', 'begin'], 'orphan_begin', '(lines 1, 2, 3)'],
    [['end', 'begin', 'end'], 'orphan_end', '(lines 1, 2, 3)'],
  ] as const)('says of %j that it is %s', (layout, problem, words) => {
    const text = layout.map((kind) => `${MEMORY_BLOCK.markers[kind]}\n`).join('')
    const read = readBlock(text)
    if (read.ok) return expect.unreachable()
    expect(read.error).toMatchObject({ problem, lines: layout.map((_, index) => index + 1) })
    expect(describeBlockRefusal(read.error)).toContain(words)
  })

  it('names ten lines at most', () => {
    const read = readBlock(`${MEMORY_BLOCK.markers.begin}\n`.repeat(5000))
    expect(read.ok || describeBlockRefusal(read.error)).toContain('(lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and more)')
  })
})
