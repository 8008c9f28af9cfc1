import { expect, it } from 'vitest'
import { type Row, verdictOf } from './row.ts'

const held: Row = { phase: 'kill', cells: { acknowledged: 900 }, problems: [] }
const broken: Row = { ...held, phase: 'calm', problems: ['acknowledged and lost: a turn'] }
const left: Row = { phase: 'pooler', cells: {}, problems: [], notRun: 'PgBouncer is not installed' }

it('a run of which every phase held says so', () => {
  expect(verdictOf([held, held], false)).toEqual({ line: 'Everything held.', exit: 0 })
})

it('a phase that did not run is named, and is not counted as held', () => {
  expect(verdictOf([held, left], false)).toEqual({
    line: '1 of 2 phases held; not run, so not proven: pooler (PgBouncer is not installed).',
    exit: 3,
  })
})

it('a phase that broke counts more than one that did not run', () => {
  expect(verdictOf([broken, left], false).exit).toBe(1)
})

it('a run that was stopped proves nothing', () => {
  expect(verdictOf([held], true)).toEqual({ line: 'Stopped early, so this proves nothing.', exit: 1 })
})
