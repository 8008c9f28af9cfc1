import { after, describe, it } from 'node:test'
import { NEEDS_PROC } from './claude-stage.ts'
import { CELLS, type Cell, nameOf, SELECTION } from './kill-grid.ts'
import { type Found, playCell } from './kill-grid-cell.ts'
import { PATIENT } from './patience.ts'

/** `npm run test:kill:agents` plays all of it. */
const isWhole = process.env.GRID === 'whole'
const begun = performance.now()
const found = new Map<Cell, Found>()

const row = (cell: Cell): string => {
  const { seen = '-', missing = [], doubled = [], sessions = '-', restarts = '-' } = found.get(cell) ?? {}
  return `| ${nameOf(cell)} | ${seen} | ${missing.length} | ${doubled.length} | ${sessions} | ${restarts} |`
}

describe('a runner of the real claude, killed at every step', { ...PATIENT, ...NEEDS_PROC, concurrency: 2 }, () => {
  const cells = isWhole ? CELLS : SELECTION
  for (const cell of cells)
    it(nameOf(cell), PATIENT, async (t) => {
      found.set(cell, await playCell(t, cell))
    })
  after(() => {
    const seconds = Math.round((performance.now() - begun) / 1_000)
    const head = ['| killed at | seen | missing | doubled | sessions | restarts |', '|---|--:|--:|--:|--:|--:|']
    if (isWhole)
      console.log([...head, ...cells.map(row), `${found.size} of ${cells.length} in ${seconds} s`].join('\n'))
  })
})
