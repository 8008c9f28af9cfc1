import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createBatonpass } from '../../src/entry/index.ts'
import { NEEDS_PROC } from './claude-stage.ts'
import { CELLS, type Cell, nameOf, SELECTION } from './kill-grid.ts'
import { type Found, playCell } from './kill-grid-cell.ts'
import { PATIENT } from './patience.ts'

/** `npm run test:kill:agents` plays all of it, with `GRID` the cells whose names have these words. */
const { GRID } = process.env
const isWhole = GRID !== undefined
const begun = performance.now()
const found = new Map<Cell, Found>()

const row = (cell: Cell): string => {
  const { seen = '-', missing = [], doubled = [], sessions = '-', restarts = '-' } = found.get(cell) ?? {}
  return `| ${nameOf(cell)} | ${seen} | ${missing.length} | ${doubled.length} | ${sessions} | ${restarts} |`
}

describe('a runner of the real claude, killed at every step', { ...PATIENT, ...NEEDS_PROC, concurrency: 2 }, () => {
  const cells = isWhole ? CELLS.filter((cell) => GRID === 'whole' || nameOf(cell).includes(GRID)) : SELECTION
  // Made once and copied: to make a store takes longer than to open one.
  const folder = mkdtempSync(join(tmpdir(), 'batonpass-grid-'))
  const emptyStore = join(folder, 'store')
  before(async () => (await createBatonpass({ dataDir: emptyStore })).close())
  after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))
  for (const cell of cells)
    it(nameOf(cell), PATIENT, async (t) => {
      found.set(cell, await playCell(t, cell, emptyStore))
    })
  after(() => {
    const seconds = Math.round((performance.now() - begun) / 1_000)
    const head = ['| killed at | seen | missing | doubled | sessions | restarts |', '|---|--:|--:|--:|--:|--:|']
    if (isWhole)
      console.log([...head, ...cells.map(row), `${found.size} of ${cells.length} in ${seconds} s`].join('\n'))
  })
})
