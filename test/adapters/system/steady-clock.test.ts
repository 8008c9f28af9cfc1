import { describe, expect, it } from 'vitest'
import { steadyClock } from '../../../src/adapters/system/system-clock.ts'
import { instant } from '../../../src/domain/kernel/instant.ts'

const said = (times: readonly number[]): readonly string[] => {
  const left = [...times]
  const clock = steadyClock(() => left.shift() ?? 0)
  return times.map(() => clock.now())
}

describe('the clock of a machine', () => {
  it('goes forward as the machine does', () => {
    expect(said([1_000, 1_000, 1_001])).toEqual([1_000, 1_000, 1_001].map(instant))
  })

  it('stands still after the machine was set back a little, until that has caught up', () => {
    expect(said([600_000, 599_000, 300_000, 600_001])).toEqual([600_000, 600_000, 600_000, 600_001].map(instant))
  })

  it('believes a machine that was set back by more than five minutes: it was wrong before', () => {
    expect(said([900_000, 599_999, 600_500])).toEqual([900_000, 599_999, 600_500].map(instant))
  })
})
