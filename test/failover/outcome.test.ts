import { describe, expect, it } from 'vitest'
import { readOptions } from './options.ts'
import { outcomesOf, reckon, tableOf } from './outcome.ts'
import type { Heard } from './writer.ts'

const HEARD: Heard = {
  acknowledged: [
    { writer: 1, text: 'one', began: 900, at: 950 },
    // Given before the kill, answered after it: no sign that anything works again.
    { writer: 2, text: 'two', began: 990, at: 1_010 },
    { writer: 1, text: 'three', began: 1_020, at: 3_000 },
    { writer: 2, text: 'four', began: 1_030, at: 4_500 },
    { writer: 1, text: 'five', began: 9_100, at: 9_500 },
  ],
  told: [
    { writer: 2, code: 'store.set_back', at: 4_000 },
    { writer: 2, code: 'store.set_back', at: 4_100 },
    { writer: 1, code: 'session.not_active', at: 4_200 },
  ],
}

describe('what was acknowledged', () => {
  it('is lost when it is not there, and doubled when it is there twice', () => {
    expect(reckon(HEARD, ['one', 'three', 'three', 'four', 'five', 'never acknowledged'])).toEqual({
      acknowledged: 5,
      lost: ['two'],
      doubled: ['three'],
    })
  })
})

describe('a failover', () => {
  const rounds = [
    { killedAt: 1_000, promotedAt: 2_000, wokenAt: 3_500 },
    { killedAt: 9_000, promotedAt: 9_100, wokenAt: 9_200 },
  ]
  const outcomes = outcomesOf(rounds, HEARD, { lost: ['two', 'four'], claims: [999, 2_500, 9_050] })

  it('is over when commands that were given after the kill are acknowledged', () => {
    expect(outcomes).toEqual([
      { round: 1, promoted: 1, firstTurn: 2, everyWriter: 3.5, firstClaim: 1.5, woken: 2.5, lost: 1, toldSetBack: 1 },
      {
        round: 2,
        promoted: 0.1,
        firstTurn: 0.5,
        everyWriter: 0.5,
        firstClaim: 0.05,
        woken: 0.2,
        lost: 1,
        toldSetBack: 0,
      },
    ])
  })

  it('is a line of the table', () => {
    expect(tableOf(outcomes).split('\n')).toHaveLength(4)
  })
})

describe('the options', () => {
  it('are ten failovers with a synchronous standby unless others are given', () => {
    expect(readOptions([])).toEqual({
      rounds: 10,
      writers: 8,
      workers: 4,
      calmMs: 4_000,
      gapMs: 0,
      replication: 'synchronous',
    })
    expect(readOptions(['--async', '--gap', '3', '--rounds', '2'])).toMatchObject({
      rounds: 2,
      gapMs: 3_000,
      replication: 'asynchronous',
    })
    expect(readOptions(['--help'])).toBeUndefined()
  })

  it('are refused when they cannot be used', () => {
    expect(() => readOptions(['--rounds', '0'])).toThrow('--rounds must be a whole number from 1 up, got "0"')
    expect(() => readOptions(['--sync'])).toThrow()
  })
})
