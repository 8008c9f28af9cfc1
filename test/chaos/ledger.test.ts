import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { Ledger, type LedgerLine, readLedgers } from './crew/ledger.ts'

const asked: LedgerLine = { is: 'invoke', id: 'a', move: 'recordTurn' }
const answered: LedgerLine = { is: 'refused', id: 'a', move: 'recordTurn', code: 'session.held' }

it('the logs of all clients are read back, but for a line that a killed client did not finish', () => {
  const folder = mkdtempSync(join(tmpdir(), 'batonpass-ledger-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))
  const first = join(folder, 'worker-0.1.log')
  {
    using ledger = new Ledger(first)
    ledger.write(asked)
    using other = new Ledger(join(folder, 'worker-1.2.log'))
    other.write(asked)
    other.write(answered)
  }
  appendFileSync(first, '{"is":"ok","id":"a","mo')
  expect(readLedgers(folder)).toEqual([asked, asked, answered])
})
