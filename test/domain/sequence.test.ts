import { describe, expect, it } from 'vitest'
import { advance, rangeContains, rangeLength, sequenceNumber, sequenceRange } from '../../src/domain/kernel/sequence.ts'

describe('sequence numbers', () => {
  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])('%s is none', (raw) => {
    expect(() => sequenceNumber(raw)).toThrow(RangeError)
  })

  it('count on, and never below 1', () => {
    expect(advance(sequenceNumber(1), 4)).toBe(5)
    expect(advance(sequenceNumber(3), 0)).toBe(3)
    expect(() => advance(sequenceNumber(1), -1)).toThrow(RangeError)
  })
})

describe('sequence ranges', () => {
  it.each([
    [5, 10, 6],
    [1, 1, 1],
  ])('%i..%i spans %i', (start, end, length) => {
    expect(rangeLength(sequenceRange(start, end))).toBe(length)
  })

  it.each([
    [10, 5],
    [0, 1],
    [Number.NaN, 1],
    [1, Number.NaN],
  ])('%s..%s cannot be made', (start, end) => {
    expect(() => sequenceRange(start, end)).toThrow(RangeError)
  })

  it('5..10 contains 5, 7, 10 and not 4 or 11', () => {
    const within = [4, 5, 7, 10, 11].filter((place) => rangeContains(sequenceRange(5, 10), place))
    expect(within).toEqual([5, 7, 10])
  })
})
