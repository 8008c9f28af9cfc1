import { describe, expect, it } from 'vitest'
import { idRange } from '../../src/domain/kernel/id-range.ts'

const ID = '0190a0a0-0000-7000-8000-000000000001'

describe('the range of ids that begin with a text', () => {
  it.each([
    ['0190', '01900000-0000-0000-0000-000000000000', '0190ffff-ffff-ffff-ffff-ffffffffffff'],
    ['0190A0A0-00', '0190a0a0-0000-0000-0000-000000000000', '0190a0a0-00ff-ffff-ffff-ffffffffffff'],
    ['0190a0a0-', '0190a0a0-0000-0000-0000-000000000000', '0190a0a0-ffff-ffff-ffff-ffffffffffff'],
    [ID.slice(0, 35), `${ID.slice(0, 35)}0`, `${ID.slice(0, 35)}f`],
    [ID, ID, ID],
  ])('%s', (text, from, to) => {
    expect(idRange(text)).toEqual({ from, to })
    expect(from <= to).toBe(true)
  })

  it.each(['', '019', 'seven', '0190a0a00', '0190-', `${ID}0`, `${ID}-`, "0190'; --", '0190%'])(
    'is none for "%s"',
    (text) => {
      expect(idRange(text)).toBeUndefined()
    },
  )
})
