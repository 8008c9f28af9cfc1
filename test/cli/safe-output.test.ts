import { beforeAll, describe, expect, it } from 'vitest'
import { cut, plain, plainLines, toJson, widthOf } from '../../src/adapters/cli/render/text.ts'
import { TextTable } from '../../src/adapters/cli/render/text-table.ts'
import { textOfSpans } from '../../src/adapters/cli/terminal/style.ts'
import { batonOn, historyInDatabase, NASTY } from './terminal.ts'

/** What must not reach a terminal, the line breaks between lines aside. */
const CONTROL = /[^\P{Cc}\n]|[\u200e\u200f\u2028-\u202e\u2066-\u2069]/u

let there: Awaited<ReturnType<typeof historyInDatabase>>
beforeAll(async () => {
  there = await historyInDatabase()
})

describe('what agents wrote', () => {
  it.each<readonly [string, (from: typeof there) => readonly string[]]>([
    ['handoffs list', () => ['handoffs', 'list']],
    ['handoffs list --all', () => ['handoffs', 'list', '--all']],
    ['audit query', () => ['audit', 'query']],
    ['handoffs show', ({ waiting }) => ['handoffs', 'show', waiting.id]],
    ['lineage', ({ conversation }) => ['lineage', conversation.id]],
  ])('neither moves the cursor nor wraps in "baton %s"', async (_, args) => {
    const baton = batonOn(there.database, 100)
    const { code, out } = await baton(...args(there))
    expect(code).toBe(0)
    expect(out).not.toMatch(CONTROL)
    expect(out).toMatch(/\\u\{1b\}|…/)
    expect(Math.max(...out.split('\n').map(widthOf))).toBeLessThanOrEqual(100)
    const { out: document } = await baton(...args(there), '--json')
    expect(document).not.toMatch(CONTROL)
    expect(JSON.stringify(JSON.parse(document))).toContain(JSON.stringify(NASTY).slice(1, -1))
  })

  it('is spelled out, not dropped', () => {
    expect(plain(NASTY)).toBe(
      'red \\u{1b}[31malert\\u{1b}[0m \\u{1b}]0;title\\u{7} \\u{9b}2J \\u{202e}gnp.exe\\u{2066} \\u{0}nul \\u{7f} END',
    )
    expect(plainLines('a\r\nb\tc\u001b[1m')).toEqual(['a', 'b  c\\u{1b}[1m'])
    expect(plain('half \ud800 pair')).toBe('half \\u{d800} pair')
  })

  it('is the same value as JSON', () => {
    const value = { text: `${NASTY}\u{e0041}\ud800 "quoted" \\ 漢字🎉` }
    expect(JSON.parse(toJson(value))).toEqual(value)
  })
})

describe('tables', () => {
  it('count columns, not characters', () => {
    expect([widthOf('abc'), widthOf('漢字'), widthOf('e\u0301'), widthOf('🎉')]).toEqual([3, 4, 1, 2])
    expect(cut('漢字漢字', 5)).toBe('漢字…')
    expect(cut('漢字漢字', 8)).toBe('漢字漢字')
    expect(cut('abcdef', 3)).toBe('ab…')
  })

  it('keep later rows within the widths of the first', () => {
    const table = new TextTable<string>(
      [
        { title: 'A', of: (text) => text, most: 10 },
        { title: 'B', of: (text) => text },
      ],
      ['short', 'x'.repeat(200)],
      100,
    )
    expect(textOfSpans(table.header())).toBe('A           B')
    expect(textOfSpans(table.row('much longer than that'))).toBe('much long…  much longer than that')
    expect(widthOf(textOfSpans(table.row('x'.repeat(300))))).toBe(100)
  })
})
