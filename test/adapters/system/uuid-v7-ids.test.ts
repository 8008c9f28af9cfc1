import { afterEach, describe, expect, it, vi } from 'vitest'
import { uuidV7Ids } from '../../../src/adapters/system/uuid-v7-ids.ts'

const V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

const made = (count: number): string[] => Array.from({ length: count }, () => uuidV7Ids.next())

describe('ids of version 7', () => {
  afterEach(() => vi.useRealTimers())

  it('are in order, within a millisecond too, and no two are alike', () => {
    const ids = made(20_000)
    expect(ids.every((id) => V7.test(id))).toBe(true)
    expect(ids).toEqual([...ids].sort())
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('say when they were made', () => {
    const before = Date.now()
    const msecs = Number.parseInt(uuidV7Ids.next().replaceAll('-', '').slice(0, 12), 16)
    expect(msecs).toBeGreaterThanOrEqual(before)
  })

  it('stay in order when the clock is set back', () => {
    const before = made(3)
    vi.useFakeTimers({ now: Date.now() - 3_600_000, toFake: ['Date'] })
    const all = [...before, ...made(3)]
    expect(all).toEqual([...all].sort())
  })

  it('end in bytes that differ from id to id, through many refills of the random bytes', () => {
    const ends = new Set(made(2_000).map((id) => id.slice(-10)))
    expect(ends.size).toBe(2_000)
  })
})
