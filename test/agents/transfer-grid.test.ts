import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createBatonpass } from '../../src/entry/index.ts'
import { NEEDS_PROC } from './claude-stage.ts'
import { PATIENT } from './patience.ts'
import { nameOfTransfer, SOME_TRANSFERS, TRANSFERS, type TransferCell } from './transfer-grid.ts'
import { type FoundTransfer, playTransfer } from './transfer-grid-cell.ts'

/** `npm run test:kill:agents` plays all of it, with `GRID` the cells whose names have these words. */
const { GRID } = process.env
const isWhole = GRID !== undefined
const begun = performance.now()
const found = new Map<TransferCell, FoundTransfer>()

const row = (cell: TransferCell): string => {
  const { seen = '-', missing = [], doubled = [] } = found.get(cell) ?? {}
  return `| ${nameOfTransfer(cell)} | ${seen} | ${missing.length} | ${doubled.length} |`
}

describe('a runner of real agents, killed at every step of a transfer', {
  ...NEEDS_PROC,
  concurrency: 2,
}, () => {
  const chosen = TRANSFERS.filter((cell) => GRID === 'whole' || nameOfTransfer(cell).includes(GRID ?? ''))
  const cells = isWhole ? chosen : SOME_TRANSFERS
  const folder = mkdtempSync(join(tmpdir(), 'batonpass-transfers-'))
  const emptyStore = join(folder, 'store')
  before(async () => (await createBatonpass({ dataDir: emptyStore })).close())
  after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))
  for (const cell of cells)
    it(nameOfTransfer(cell), PATIENT, async (t) => {
      found.set(cell, await playTransfer(t, cell, emptyStore))
    })
  after(() => {
    const seconds = Math.round((performance.now() - begun) / 1_000)
    const head = ['| killed at | seen | missing | doubled |', '|---|--:|--:|--:|']
    if (isWhole)
      console.log([...head, ...cells.map(row), `${found.size} of ${cells.length} in ${seconds} s`].join('\n'))
  })
})
