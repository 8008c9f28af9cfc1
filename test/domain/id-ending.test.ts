import { describe, expect, it } from 'vitest'
import { idEnding, shortestEnding } from '../../src/domain/kernel/id-ending.ts'

const ID = '0190a0a0-0000-7000-8000-0000000000A1'

describe('the end of an id', () => {
  it.each(['0000a1', '0000000000a1', '-0000000000a1', '8000-0000000000A1', ID.slice(1), ID])('can be %s', (text) => {
    expect(idEnding(text)).toBe(text.toLowerCase())
  })

  it.each(['', '000a1', 'seven7', '0-000a1', '0000000000000a1', `0${ID}`, "a'; --1", '%00000a1', '0190a0a0-0000'])(
    'cannot be "%s"',
    (text) => {
      expect(idEnding(text)).toBeUndefined()
    },
  )

  it('is as long as it takes to tell ids apart, and 6 characters at least', () => {
    const other = ID.replace('-7000-', '-7001-')
    expect(shortestEnding([ID])).toBe(6)
    expect(shortestEnding([ID, ID])).toBe(6)
    expect(shortestEnding([ID, ID.replace('000A1', '100A1')])).toBe(6)
    expect(shortestEnding([ID, ID.replace('0000000A1', '1000000A1')])).toBe(9)
    expect(shortestEnding([ID, other])).toBe(19)
  })
})
