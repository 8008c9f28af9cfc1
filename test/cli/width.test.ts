import { describe, expect, it } from 'vitest'
import { renderFacts, renderText, widthOf, wrapped } from '../../src/adapters/cli/render/text.ts'
import { TextTable } from '../../src/adapters/cli/render/text-table.ts'
import { outputsOn } from '../../src/adapters/cli/terminal/outputs.ts'
import { styleOf, textOfSpans, writeSpans } from '../../src/adapters/cli/terminal/style.ts'
import { runCli } from '../../src/adapters/cli/tree/run-command.ts'

interface Item {
  readonly id: string
  readonly status: string
  readonly task: string
}

const ITEMS: readonly Item[] = [1, 2].map((number) => ({
  id: `0190a0a0-0000-7${number}00-8000-000000000001`,
  status: 'completed',
  task: `Find out why the login test fails on Mondays, mend it, and say in one sentence what was wrong (${number})`,
}))

const table = (width?: number): TextTable<Item> =>
  new TextTable<Item>(
    [
      { title: 'ID', of: ({ id }) => id, isId: true },
      { title: 'STATUS', of: ({ status }) => status, most: 9, style: ({ status }) => styleOf(status) },
      { title: 'TASK', of: ({ task }) => task },
    ],
    ITEMS,
    width,
  )

const linesOf = (width?: number): readonly string[] => {
  const made = table(width)
  return [made.header(), ...ITEMS.map((item) => made.row(item))].map(textOfSpans)
}

/** A stream that remembers, on a terminal of this width or on none. */
const stream = (columns?: number) => {
  const written: string[] = []
  const write = (text: string) => written.push(text)
  return { written, write, ...(columns !== undefined && { isTTY: true, columns }) }
}

const helpOn = async (columns: number | undefined, environment: Readonly<Record<string, string>>): Promise<string> => {
  const stdout = stream(columns)
  const outputs = outputsOn(stdout, stream(), environment)
  expect(await runCli(['help', 'run'], { ...outputs, version: '0', environment })).toBe(0)
  return stdout.written.join('')
}

const widest = (text: string): number => Math.max(...text.split('\n').map(widthOf))

describe('a table', () => {
  it('at 80 columns is cut to fit, and shows ids by their end, as far as they stay apart', () => {
    const [, first = '', second = ''] = linesOf(80)
    expect(first).toMatch(/^100-8000-000000000001 {2}completed {2}Find out .*…$/)
    expect(second).toMatch(/^200-8000-000000000001 {2}/)
    expect([first, second].map(widthOf)).toEqual([80, 80])
  })

  it('at 200 columns shows everything', () => {
    const [, first = ''] = linesOf(200)
    expect(first).toBe(`100-8000-000000000001  completed  ${ITEMS[0]?.task}`)
    expect(linesOf()[1]).toBe(`${ITEMS[0]?.id}  completed  ${ITEMS[0]?.task}`)
  })

  it.each([
    [120, 'ID TITLE FOLDER STATE KEY'],
    [70, 'ID TITLE FOLDER STATE'],
    [40, 'ID TITLE STATE'],
    [30, 'ID TITLE'],
    [12, 'ID TIT…'],
  ])('of %i columns leaves out the least important ones: %s', (width, titles) => {
    const rows = [1, 2].map((number) => `${number}`.repeat(36))
    const made = new TextTable<string>(
      [
        { title: 'ID', of: (row) => row, isId: true },
        { title: 'TITLE', of: (row) => `The words of a person who asked for something ${row}` },
        { title: 'FOLDER', of: (row) => `/home/me/work/${row}`, most: 24, importance: 2, keepsEnd: true },
        { title: 'STATE', of: () => 'handed_off', most: 10, importance: 3 },
        { title: 'KEY', of: () => 'the-key-of-a-job-that-is-long', most: 16, importance: 1 },
      ],
      rows,
      width,
    )
    const [header, ...lines] = [made.header(), ...rows.map((row) => made.row(row))].map(textOfSpans)
    expect(header?.split(/ +/).join(' ')).toBe(titles)
    for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(width)
    if (titles.includes('FOLDER')) expect(lines[0]).toMatch(/ {2}…1{23} /)
  })

  it('that is no wider than a hand is still cut to it', () => {
    for (const line of linesOf(12)) expect(widthOf(line)).toBeLessThanOrEqual(12)
  })

  it('where there is no terminal cuts nothing, not even a later row that is longer', () => {
    const long = { id: ITEMS[0]?.id ?? '', status: 'x'.repeat(50), task: 'y'.repeat(500) }
    expect(textOfSpans(table().row(long))).toBe(`${long.id}  ${long.status}  ${long.task}`)
  })
})

describe('a terminal that says it has 0 columns', () => {
  it('is written to as one of the usual width', async () => {
    const { out } = outputsOn(stream(0), stream(0), {})
    expect(out.columns).toBe(80)
    expect(widest(await helpOn(0, {}))).toBeGreaterThan(40)
  })
})

describe('a text', () => {
  it('is wrapped between words and nothing of it is lost', () => {
    const text = 'The clock is read twice across midnight, once for the user and once for the session.'
    const lines = renderText(text, 40)
    for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(40)
    expect(lines.map((line) => line.trim()).join(' ')).toBe(text)
    expect(renderText(text, Number.POSITIVE_INFINITY)).toEqual([`  ${text}`])
  })

  it('without a space is broken where the line ends, by columns', () => {
    expect(wrapped('x'.repeat(50), 20)).toEqual(['x'.repeat(20), 'x'.repeat(20), 'x'.repeat(10)])
    expect(wrapped('漢'.repeat(11), 20)).toEqual(['漢'.repeat(10), '漢'])
  })

  it('beside a name continues below its own beginning', () => {
    const [first = '', second = ''] = renderFacts({ why: `${'word '.repeat(9)}end` }, 30)
    expect(first).toBe('why  word word word word word')
    expect(second).toBe('     word word word word end')
  })
})

describe('the width', () => {
  it.each([
    ['a terminal', 80, {}, 80],
    ['a wide terminal', 200, {}, 200],
    ['COLUMNS on a terminal', 200, { COLUMNS: '90' }, 90],
    ['COLUMNS elsewhere', undefined, { COLUMNS: '90' }, 90],
    ['no terminal', undefined, {}, undefined],
    ['COLUMNS that is no number', undefined, { COLUMNS: 'wide' }, undefined],
    ['COLUMNS of nothing', 80, { COLUMNS: '0' }, 80],
  ])('comes from %s', (_, columns, environment, expected) => {
    expect(outputsOn(stream(columns), stream(columns), environment).out.columns).toBe(expected)
    expect(outputsOn(stream(columns), stream(columns), environment).err.columns).toBe(expected)
  })

  it('is used by help', async () => {
    const [narrow, wide] = [await helpOn(80, { NO_COLOR: '1' }), await helpOn(200, { NO_COLOR: '1' })]
    expect(widest(narrow)).toBeLessThanOrEqual(80)
    expect(widest(wide)).toBeGreaterThan(150)
    expect(widest(await helpOn(undefined, { COLUMNS: '60' }))).toBeLessThanOrEqual(60)
    expect(narrow.split(/\s+/)).toEqual(wide.split(/\s+/))
  })
})

describe('colour', () => {
  const ESCAPE = '\u001b'
  const written = (columns: number | undefined, environment: Readonly<Record<string, string>>): string => {
    const stdout = stream(columns)
    writeSpans(
      outputsOn(stdout, stream(), environment).out,
      table(columns).row({ ...ITEMS[0], id: 'a', status: 'failed', task: '' }),
    )
    return stdout.written.join('')
  }

  it.each<readonly [string, number | undefined, Readonly<Record<string, string>>, boolean]>([
    ['on a terminal', 80, {}, true],
    ['never where there is none', undefined, {}, false],
    ['never with NO_COLOR', 80, { NO_COLOR: '1' }, false],
    ['with a NO_COLOR that is empty', 80, { NO_COLOR: '' }, true],
    ['with FORCE_COLOR where there is no terminal', undefined, { FORCE_COLOR: '1' }, true],
    ['never with FORCE_COLOR=0', 80, { FORCE_COLOR: '0' }, false],
    ['never with both', 80, { NO_COLOR: '1', FORCE_COLOR: '1' }, false],
    ['never on a dumb terminal', 80, { TERM: 'dumb' }, false],
  ])('is written %s', (_, columns, environment, isColoured) => {
    expect(written(columns, environment).includes(`${ESCAPE}[31mfailed`)).toBe(isColoured)
    expect(written(columns, environment).includes(ESCAPE)).toBe(isColoured)
  })

  it('of a text is never its own', () => {
    const stdout = stream(80)
    const { out } = outputsOn(stdout, stream(), {})
    writeSpans(out, [{ text: `${ESCAPE}[31mevil`, style: 'title' }, { text: `${ESCAPE}[2J` }])
    expect(stdout.written.join('')).toBe(`${ESCAPE}[1m\\u001b[31mevil${ESCAPE}[22m\\u001b[2J\n`)
  })

  it('marks the titles of help', async () => {
    expect(await helpOn(80, {})).toContain(`${ESCAPE}[1mFlags:${ESCAPE}[22m`)
    expect(await helpOn(undefined, {})).not.toContain(ESCAPE)
  })
})
